import type { Chunk, ItemsQuery } from './items-query.js'

/** Messages between an edge process and a process that runs queries for it. */
export type ToQueryProcess =
  | { readonly what: 'open'; readonly id: number; readonly query: ItemsQuery }
  /** requests the next part of a response */
  | { readonly what: 'pull'; readonly id: number }
  | { readonly what: 'close'; readonly id: number }

export type FromQueryProcess =
  | { readonly id: number; readonly chunk: Chunk }
  | { readonly id: number; readonly failed: string; readonly missing: boolean }
