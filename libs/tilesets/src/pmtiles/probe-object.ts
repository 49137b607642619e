import { sentence } from '@gateway/contracts/messages.js'
import type { ObjectStore, ReadOptions } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { objectIdentity } from '../cache-tags.js'
import { SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { unpackDirectory, unpackJson } from './archive.js'
import { readHeader, type Section } from './header.js'
import { HEADER_BYTES, MAX_ROOT_BYTES } from './layout.js'
import { describeArchive } from './probe.js'
import { findTile } from './source.js'

/**
 * `probePmtiles` for an object, by three or four range requests, all of the same content. Rejects with `BrokenArchiveError` and the store's errors,
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
  const search = findTile({ fd: -1, identity, modifiedMs: 0, header, root }, new Map(), root.tileIds[0]!)
  let step = search.next()
  while (!step.done) step = search.next(await read(step.value))
  const first = step.value
  const sample = first === null ? null : await read({ ...first, length: Math.min(first.length, SAMPLE_BYTES) })
  return describeArchive({ header, identity }, fields, sample)
}
