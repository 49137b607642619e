import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { objectIdentity } from '@gateway/tilesets/cache-tags.js'
import { archiveStorageOf } from '@gateway/tilesets/probe.js'
import { probeRemoteTileSet } from '@gateway/tilesets/probe-remote.js'
import { concurrently } from '../../../platform/files/concurrently.js'
import type { ProbeResult } from '../../probe/probe-result.js'
import { Prober } from '../../probe/prober.js'
import { unreadable } from '../../probe/unreadable.js'
import { type Candidate, findCandidates, ONLY_VERSION } from '../walk/candidates.js'
import type { FoundBasemaps } from '../walk/found.js'
import { gatherVersions } from '../walk/gather-versions.js'
import { type ProbedCandidate, probeCandidate } from '../walk/probe-candidate.js'
import { WalkError } from '../walk/walk.js'
import { fetchWhole } from './fetch.js'
import { listFolder, type RemoteEntry } from './list-folder.js'
import { keyIn, nameOfPlace, type RemotePlace, withoutExtension } from './remote-place.js'

/** Maximum number of versions that are read at the same time. */
const AT_ONCE = 8

/** Maximum bytes of an MBTiles archive, which must be fetched completely. */
const MAX_MBTILES_BYTES = 4 * 1024 ** 3

/** Known versions by path: an unchanged MBTiles archive is not fetched again. */
export type KnownVersions = ReadonlyMap<string, NewVersion>

/** `walkBasemaps` for a remote source. A location that is one archive, or a directory that cannot be listed, holds one version. */
export async function walkRemoteBasemaps(place: RemotePlace, known: KnownVersions): Promise<FoundBasemaps> {
  const candidates = await candidatesOf(place)
  const prober = new Prober()
  const probed: ProbedCandidate[] = []
  try {
    await concurrently(numbered(candidates), AT_ONCE, async ([i, candidate]) => {
      const probe = () => probeEntry(place, candidate.entry as RemoteEntry, known, prober)
      probed[i] = await probeCandidate(place, candidate, { probe })
    })
  } finally {
    prober.end()
  }
  const gathered = await gatherVersions(probed, place, place.canBeListed ? (path) => listFolder(place, path) : () => [])
  return { ...gathered, warnings: place.warnings }
}

async function candidatesOf(place: RemotePlace): Promise<Candidate[]> {
  const { root, canBeListed, store, signal } = place
  const isArchive = archiveStorageOf(root) !== null
  if (canBeListed && !isArchive) return findCandidates(place, (path) => listFolder(place, path))
  const facts = isArchive ? ((await store.head('', { signal })) ?? null) : null
  if (isArchive && facts === null) throw new WalkError(coded('scan_root_missing', { path: root }))
  const name = nameOfPlace(root)
  const entry: RemoteEntry = { name, path: root, kind: isArchive ? 'file' : 'directory', isLink: false, facts }
  return [{ code: isArchive ? withoutExtension(name) : name, version: ONLY_VERSION, entry }]
}

async function probeEntry(
  place: RemotePlace,
  entry: RemoteEntry,
  known: KnownVersions,
  prober: Prober,
): Promise<ProbeResult> {
  const { store, signal } = place
  if (entry.facts !== null && archiveStorageOf(entry.path) === 'mbtiles') {
    return probeMbtiles(place, entry.path, entry.facts, known.get(entry.path), prober)
  }
  try {
    const probe = await probeRemoteTileSet(store, keyIn(place, entry.path), { signal })
    return probe === null ? { state: 'empty' } : { state: 'ok', probe }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return { state: 'broken', why: error.message }
    const confused = unreadable(error)
    if (confused !== null) return confused
    throw error
  }
}

async function probeMbtiles(
  place: RemotePlace,
  path: string,
  facts: ObjectFacts,
  known: NewVersion | undefined,
  prober: Prober,
): Promise<ProbeResult> {
  const fingerprint = objectIdentity(facts)
  if (known?.fingerprint === fingerprint) {
    return { state: 'ok', probe: { ...known, rowsAssumed: false, encoding: 'identity', warnings: [] } }
  }
  if (facts.size > MAX_MBTILES_BYTES) {
    return {
      state: 'broken',
      why: `an MBTiles archive of more than ${MAX_MBTILES_BYTES} bytes is not fetched; make it PMTiles`,
    }
  }
  const file = join(place.scratch, `${fingerprint}.mbtiles`)
  try {
    await fetchWhole(place.store, keyIn(place, path), file, facts, place.signal)
    const result = await prober.probe(place.scratch, file, place.signal)
    return result.state === 'ok' ? { state: 'ok', probe: { ...result.probe, fingerprint } } : result
  } finally {
    await rm(file, { force: true })
  }
}

async function* numbered<T>(items: readonly T[]): AsyncIterable<readonly [number, T]> {
  yield* items.entries()
}
