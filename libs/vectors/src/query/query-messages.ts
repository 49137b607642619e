import type { Chunk, ItemsQuery } from './items-query.js'

/** What passes between an edge process and one that runs queries for it. */
export type ToQueryProcess =
  | { readonly what: 'open'; readonly id: number; readonly query: ItemsQuery }
  /** the next part of an answer is wanted */
  | { readonly what: 'pull'; readonly id: number }
  | { readonly what: 'close'; readonly id: number }

export type FromQueryProcess =
  | { readonly id: number; readonly chunk: Chunk }
  | { readonly id: number; readonly failed: string; readonly missing: boolean }
