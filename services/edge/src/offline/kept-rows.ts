import { deserialize, serialize } from 'node:v8'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { StoredToken } from '@gateway/store/tokens.js'
import type { StoredVector } from '@gateway/store/vectors.js'

interface RowTypes {
  basemap: StoredBasemap
  vector: StoredVector
  token: StoredToken
}
type Kind = keyof RowTypes

/** What is kept of the store, as it was read. */
export interface Rows {
  readonly basemaps: readonly StoredBasemap[]
  readonly vectors: readonly StoredVector[]
  readonly tokens: readonly StoredToken[]
}

const LENGTH_BYTES = 4

/** Rows by what they are known by, each as the bytes that are written: they are replaced one by one, and read by nobody here. */
export class RowBytes {
  readonly #rows: Readonly<Record<Kind, Map<string, Uint8Array>>> = {
    basemap: new Map(),
    vector: new Map(),
    token: new Map(),
  }

  put<K extends Kind>(kind: K, key: string, row: RowTypes[K]): void {
    const body = serialize([kind, row])
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32LE(body.length)
    this.#rows[kind].set(key, Buffer.concat([length, body]))
  }

  has(kind: Kind, key: string): boolean {
    return this.#rows[kind].has(key)
  }

  delete(kind: Kind, key: string): void {
    this.#rows[kind].delete(key)
  }

  clear(): void {
    for (const rows of Object.values(this.#rows)) rows.clear()
  }

  all(): readonly Uint8Array[] {
    return Object.values(this.#rows).flatMap((rows) => [...rows.values()])
  }
}

/** What `RowBytes.all` made. Throws where it is anything else. */
export function readRows(content: Buffer): Rows {
  const rows: { [K in Kind]: RowTypes[K][] } = { basemap: [], vector: [], token: [] }
  for (let at = 0; at < content.length; ) {
    const length = content.readUInt32LE(at)
    at += LENGTH_BYTES
    const [kind, row] = deserialize(content.subarray(at, at + length)) as [Kind, never]
    rows[kind].push(row)
    at += length
  }
  return { basemaps: rows.basemap, vectors: rows.vector, tokens: rows.token }
}
