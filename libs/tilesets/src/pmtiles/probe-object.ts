import { sentence } from '@gateway/contracts/messages.js'
import type { ObjectStore, ReadOptions } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { objectIdentity } from '../cache-tags.js'
import { SIGNATURE_BYTES } from '../formats.js'
import { SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { unpackDirectory, unpackJson } from './archive.js'
import { readHeader, type Section } from './header.js'
import { HEADER_BYTES, MAX_ROOT_BYTES } from './layout.js'
import { describeArchive, sampledTiles } from './probe.js'
import { findTile, finish, type Leaves } from './source.js'

/** Maximum number of tiles whose first bytes are read, each by a request, and by another one for its leaf directory. */
const MAX_SAMPLES = 3

/**
 * `probePmtiles` for an object, by at most eight range requests, all of the same content. Rejects with `BrokenArchiveError` and the store's errors,
 * including `ObjectReplaced`.
 */
export async function probePmtilesObject(
  store: ObjectStore,
  key: string,
  options: ReadOptions = {},
): Promise<TileSetProbe> {
  const startRange = { offset: 0, length: HEADER_BYTES + MAX_ROOT_BYTES }
  const { bytes: start, facts } = await store.read(key, startRange, options)
  const read = async (section: Section): Promise<Buffer> => {
    const end = section.offset + section.length
    if (end <= start.length) return start.subarray(section.offset, end)
    const { bytes } = await store.read(key, section, { ...options, ifMatch: facts.etag })
    if (bytes.length < section.length) throw new BrokenArchiveError(sentence('said.archive_cut_off'))
    return bytes
  }
  const header = readHeader(start, facts.size)
  const identity = objectIdentity(facts)
  const root = unpackDirectory(header, await read(header.root))
  const fields = header.metadata.length === 0 ? {} : unpackJson(header, await read(header.metadata))
  const leaves: Leaves = new Map()
  const samples: Buffer[] = []
  for (const [i, tileId] of sampledTiles({ root }, MAX_SAMPLES).entries()) {
    const tile = await finish(findTile({ fd: -1, identity, modifiedMs: 0, header, root }, leaves, tileId), read)
    const limit = i === 0 ? SAMPLE_BYTES : SIGNATURE_BYTES
    if (tile !== null) samples.push(await read({ ...tile, length: Math.min(tile.length, limit) }))
  }
  // The last leaf is known already, because the last tile of the root directory is among the samples.
  return finish(describeArchive({ archive: { header, root, identity }, leaves, maxLeaves: 0 }, fields, samples), read)
}
