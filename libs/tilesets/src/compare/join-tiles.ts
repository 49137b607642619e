import { gunzipSync } from 'node:zlib'
import type { NumberedTile } from '../pmtiles/writer.js'

export type TileChange = 'added' | 'changed' | 'removed'

/** A run of tiles with consecutive numbers and the same content on each side. */
export interface JoinedTiles {
  readonly tileId: number
  readonly runLength: number
  readonly change: TileChange | 'same'
  /** null: absent on that side */
  readonly left: Uint8Array | null
  readonly right: Uint8Array | null
}

const NOTHING = new Uint8Array(0)

/** Maximum bytes of one decompressed tile. SQLite's limit is the same (`openDatabase`). */
const MAX_TILE_BYTES = 32 * 1024 * 1024

/**
 * Merges two sets, both in ascending order of their tile numbers. Bytes are compared. If vector tiles (`isPacked`) differ, their decompressed content is
 * compared, since the same tile may be compressed in many ways.
 */
export async function* joinTiles(
  left: AsyncIterable<NumberedTile>,
  right: AsyncIterable<NumberedTile>,
  isPacked: boolean,
): AsyncGenerator<JoinedTiles> {
  const [ones, others] = [new Cursor(left), new Cursor(right)]
  // Successive runs with the same content are compared once.
  const compared = { one: NOTHING, other: NOTHING, same: true }
  try {
    await Promise.all([ones.fill(), others.fill()])
    while (ones.tile !== null || others.tile !== null) {
      const [a, b] = [ones.tile, others.tile]
      if (b === null || (a !== null && a.tileId < b.tileId)) {
        const one = a as Run
        const runLength = Math.min(one.runLength, b === null ? one.runLength : b.tileId - one.tileId)
        yield { tileId: one.tileId, runLength, change: 'removed', left: one.data, right: null }
        await ones.pass(runLength)
      } else if (a === null || b.tileId < a.tileId) {
        const runLength = Math.min(b.runLength, a === null ? b.runLength : a.tileId - b.tileId)
        yield { tileId: b.tileId, runLength, change: 'added', left: null, right: b.data }
        await others.pass(runLength)
      } else {
        const runLength = Math.min(a.runLength, b.runLength)
        if (compared.one !== a.data || compared.other !== b.data)
          Object.assign(compared, { one: a.data, other: b.data, same: isSame(a.data, b.data, isPacked) })
        yield { tileId: a.tileId, runLength, change: compared.same ? 'same' : 'changed', left: a.data, right: b.data }
        await Promise.all([ones.pass(runLength), others.pass(runLength)])
      }
    }
  } finally {
    await Promise.all([ones.close(), others.close()])
  }
}

type Run = Required<NumberedTile>

/** The rest of the current run of a set. */
class Cursor {
  readonly #tiles: AsyncIterator<NumberedTile>
  tile: Run | null = null

  constructor(tiles: AsyncIterable<NumberedTile>) {
    this.#tiles = tiles[Symbol.asyncIterator]()
  }

  async fill(): Promise<void> {
    const { done, value } = await this.#tiles.next()
    this.tile = done ? null : { runLength: 1, ...value }
  }

  async pass(count: number): Promise<void> {
    const { tileId, runLength, data } = this.tile as Run
    if (count < runLength) this.tile = { tileId: tileId + count, runLength: runLength - count, data }
    else await this.fill()
  }

  async close(): Promise<void> {
    await this.#tiles.return?.()
  }
}

/** Compares the bytes of two tiles, and if they are packed and differ, their decompressed content. */
export function isSame(one: Uint8Array, other: Uint8Array, isPacked: boolean): boolean {
  if (Buffer.compare(one, other) === 0) return true
  return isPacked && Buffer.compare(unpacked(one), unpacked(other)) === 0
}

/** Data that cannot be decompressed is compared unchanged. */
function unpacked(data: Uint8Array): Uint8Array {
  try {
    return gunzipSync(data, { maxOutputLength: MAX_TILE_BYTES })
  } catch {
    return data
  }
}
