import { deserialize, serialize } from 'node:v8'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { ServedFont, StoredStyle } from '@gateway/store/styles.js'
import type { StoredToken } from '@gateway/store/tokens.js'
import type { StoredVector } from '@gateway/store/vectors.js'

export interface RowTypes {
  basemap: StoredBasemap
  vector: StoredVector
  style: StoredStyle
  /** All of them under one key. */
  fonts: readonly ServedFont[]
  token: StoredToken
}
type Kind = keyof RowTypes

/** The kept rows of the store, as they were read. */
export interface Rows {
  readonly basemaps: readonly StoredBasemap[]
  readonly vectors: readonly StoredVector[]
  readonly styles: readonly StoredStyle[]
  readonly fonts: readonly ServedFont[]
  readonly tokens: readonly StoredToken[]
}

const LENGTH_BYTES = 4

/**
 * Rows by their keys, each as the bytes that are written: a record with its kind, its key and the row, or null for a deleted row. A later
 * record of a key replaces the earlier one.
 */
export class RowBytes {
  readonly #rows: Readonly<Record<Kind, Map<string, Uint8Array>>> = {
    basemap: new Map(),
    vector: new Map(),
    style: new Map(),
    fonts: new Map(),
    token: new Map(),
  }
  #changes: Uint8Array[] = []

  put<K extends Kind>(kind: K, key: string, row: RowTypes[K]): void {
    const record = recordOf(kind, key, row)
    const before = this.#rows[kind].get(key)
    if (before !== undefined && Buffer.compare(before, record) === 0) return
    this.#rows[kind].set(key, record)
    this.#changes.push(record)
  }

  has(kind: Kind, key: string): boolean {
    return this.#rows[kind].has(key)
  }

  delete(kind: Kind, key: string): void {
    if (this.#rows[kind].delete(key)) this.#changes.push(recordOf(kind, key, null))
  }

  clear(): void {
    for (const rows of Object.values(this.#rows)) rows.clear()
    this.#changes = []
  }

  /** Returns the records since the last call, which update the previously written rows to `all`. */
  takeChanges(): readonly Uint8Array[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  all(): readonly Uint8Array[] {
    return Object.values(this.#rows).flatMap((rows) => [...rows.values()])
  }
}

function recordOf<K extends Kind>(kind: K, key: string, row: RowTypes[K] | null): Uint8Array {
  const body = serialize([kind, key, row])
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(body.length)
  return Buffer.concat([length, body])
}

/** Reads the rows that the records of a `RowBytes` describe. Throws if the content is anything else. */
export function readRows(content: Buffer): Rows {
  const rows = { basemap: new Map(), vector: new Map(), style: new Map(), fonts: new Map(), token: new Map() } as {
    [K in Kind]: Map<string, RowTypes[K]>
  }
  for (let at = 0; at < content.length; ) {
    const length = content.readUInt32LE(at)
    at += LENGTH_BYTES
    const [kind, key, row] = deserialize(content.subarray(at, at + length)) as [Kind, string, never]
    if (row === null) rows[kind].delete(key)
    else rows[kind].set(key, row)
    at += length
  }
  return {
    basemaps: [...rows.basemap.values()],
    vectors: [...rows.vector.values()],
    styles: [...rows.style.values()],
    fonts: [...rows.fonts.values()].flat(),
    tokens: [...rows.token.values()],
  }
}
