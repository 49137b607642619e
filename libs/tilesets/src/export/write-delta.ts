import { createHash } from 'node:crypto'
import { coded } from '@gateway/contracts/messages.js'
import { tileIdToZxy } from 'pmtiles'
import { joinTiles } from '../compare/join-tiles.js'
import type { NumberedTile, WrittenArchive } from '../pmtiles/writer.js'
import type { StoredSet } from '../source.js'
import { storedTiles } from './stored-tiles.js'
import { ExportRefused, type ExportTask, writeTilesAs } from './write-export.js'

export interface DeltaTask extends ExportTask {
  /** the base set of the delta */
  readonly older: StoredSet
  readonly versions: { readonly from: string; readonly to: string }
}

/** Maximum number of removed tiles, whose addresses are in the metadata: some 20 MB of JSON. */
const MAX_REMOVED = 1_000_000

/** The field `delta` in the metadata; docs/reference/deliveries.md describes it for clients. */
interface Delta {
  readonly from_version: string
  readonly to_version: string
  from_tiles: number
  to_tiles: number
  from_digest: string
  to_digest: string
  readonly removed: (readonly [z: number, x: number, y: number])[]
}

/**
 * Writes the differences between two sets as a PMTiles 3 archive: added and changed tiles, and in its metadata the removed tiles and
 * the digests of both sets. Its header has the zooms, bounds and centre of the newer set. Writes the archive completely or not at all.
 */
export async function writeDelta(task: DeltaTask, onShare: (thousandths: number) => void): Promise<WrittenArchive> {
  const { set, older, area, versions } = task
  if (set.format !== older.format) throw new ExportRefused(coded('export_delta_formats'))
  const [left, right] = await Promise.all([storedTiles(older, area), storedTiles(set, area)])
  try {
    if (left === null || right === null) throw new ExportRefused(coded('export_no_files'))
    if (right.count === 0) throw new ExportRefused(coded('export_nothing_there'))
    const delta: Delta = {
      from_version: versions.from,
      to_version: versions.to,
      from_tiles: 0,
      to_tiles: 0,
      from_digest: '',
      to_digest: '',
      removed: [],
    }
    const [before, after] = [new SetDigest(), new SetDigest()]
    const changed = async function* (): AsyncGenerator<NumberedTile> {
      // Compares stored bytes: a vector tile with another compression must be sent too, so that the digests match.
      for await (const { tileId, runLength, change, left: old, right: data } of joinTiles(
        left.tiles,
        right.tiles,
        false,
      )) {
        if (old !== null) before.add(tileId, runLength, old)
        if (data !== null) {
          after.add(tileId, runLength, data)
          if (change !== 'same') yield { tileId, runLength, data }
          continue
        }
        if (delta.removed.length + runLength > MAX_REMOVED)
          throw new ExportRefused(coded('export_delta_removed', { limit: MAX_REMOVED }))
        for (let id = tileId; id < tileId + runLength; id++) delta.removed.push(tileIdToZxy(id))
      }
      Object.assign(delta, { from_tiles: before.tiles, to_tiles: after.tiles })
      Object.assign(delta, { from_digest: before.digest(), to_digest: after.digest() })
    }
    const metadata = { ...task.metadata, delta }
    return await writeTilesAs(
      { ...task, metadata },
      { count: left.count + right.count, tiles: changed() },
      onShare,
      () => [tileIdToZxy(after.first)[0], tileIdToZxy(after.last)[0]],
    )
  } finally {
    left?.close()
    right?.close()
  }
}

/** The SHA-256 of a set: for each tile, in the order of their numbers, its number in 8 bytes, big-endian, and the SHA-256 of its data. */
class SetDigest {
  readonly #hash = createHash('sha256')
  #last: { data: Uint8Array; digest: Buffer } | null = null
  tiles = 0
  first = -1
  last = -1

  add(tileId: number, runLength: number, data: Uint8Array): void {
    if (this.#last?.data !== data) this.#last = { data, digest: createHash('sha256').update(data).digest() }
    for (let id = tileId; id < tileId + runLength; id++) {
      const number = Buffer.alloc(8)
      number.writeBigUInt64BE(BigInt(id))
      this.#hash.update(number).update(this.#last.digest)
    }
    if (this.first < 0) this.first = tileId
    this.last = tileId + runLength - 1
    this.tiles += runLength
  }

  /** Returns the digest in hex. Must be called once. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}
