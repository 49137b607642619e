import { rm } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { pathBelow } from '@gateway/core/object-storage/location.js'
import { type FilePart, fingerprintOf, partsByBase } from '@gateway/vectors/source-parts.js'
import { concurrently } from '../../../platform/files/concurrently.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { type FoundVector, type FoundVectors, quoted, warnAll } from '../walk/found.js'
import { kindOf } from '../walk/vector-kinds.js'
import type { KnownFiles } from '../walk/vector-walk.js'
import { WalkError, walk } from '../walk/walk.js'
import { canBeAddressed, skip } from '../walk/walk-vectors.js'
import { warnIn } from '../walk/walked-source.js'
import { fetchEnds, fetchWhole } from './fetch.js'
import { listFiles, type RemoteFile } from './list-folder.js'
import { nameOfPlace, type RemotePlace } from './remote-place.js'

/** Limits of files that are fetched completely, and of a GeoPackage, whose ends say nothing about its content. In bytes. */
const MAX_WHOLE_BYTES = 64 * 1024 ** 2
const MAX_GEOPACKAGE_BYTES = 1024 ** 3

/** Limits of a batch that is fetched, read and removed, and of files fetched at the same time. */
const MAX_BATCH_BYTES = 256 * 1024 ** 2
const MAX_BATCH = 500
const AT_ONCE = 8

/** A vector with the objects that it consists of. The first one gives its name. */
interface Listed {
  readonly relativePath: string
  readonly vector: Omit<FoundVector, 'facts'>
  readonly files: readonly RemoteFile[]
}

/**
 * `walkVectors` for a remote source. New and changed files are fetched in batches, large ones only by both ends. A separate process reads them like
 * those of a local source.
 */
export async function walkRemoteVectors(place: RemotePlace, known: KnownFiles): Promise<FoundVectors> {
  const listed = vectorsAmong(place, await filesOf(place))
  const vectors: FoundVector[] = []
  const unread: Listed[] = []
  for (const one of listed) {
    const before = known.get(one.relativePath)
    if (before?.fingerprint !== one.vector.fingerprint) unread.push(one)
    else {
      vectors.push({ ...one.vector, kind: before.kind, facts: null })
      for (const { code, params } of before.warnings)
        warnIn(place, coded(code, { ...params, file: quoted(one.relativePath) }))
    }
  }
  for (const batch of batches(unread)) vectors.push(...(await readBatch(place, batch)))
  const order = (a: FoundVector, b: FoundVector) => (a.relativePath < b.relativePath ? -1 : 1)
  return { vectors: vectors.sort(order), warnings: place.warnings }
}

async function filesOf(place: RemotePlace): Promise<readonly RemoteFile[]> {
  const { root, store, signal, canBeListed } = place
  const kind = kindOf(root)
  // The parts of a shapefile are next to it, and a location that is one object does not include them.
  const isOne = kind !== null && kind !== 'shapefile'
  if (!isOne && canBeListed) return listFiles(place)
  const facts = isOne ? await store.head('', { signal }) : undefined
  if (facts !== undefined) return [{ key: '', facts }]
  if (isOne) throw new WalkError(coded('scan_root_missing', { path: root }))
  throw new WalkError(coded('scan_root_unlisted', { path: root }))
}

function vectorsAmong(place: RemotePlace, files: readonly RemoteFile[]): Listed[] {
  if (files.length === 0) warnIn(place, coded('scan_prefix_empty'))
  const byPath = new Map(files.map((file) => [file.key === '' ? nameOfPlace(place.root) : file.key, file]))
  const parts = partsByBase([...byPath.keys()])
  const listed: Listed[] = []
  const skipped = new SkippedFiles()
  for (const [relativePath, file] of byPath) {
    const kind = kindOf(relativePath)
    if (kind === null) {
      const isPart = /\.(?:dbf|shx)$/i.test(relativePath) && byPath.has(relativePath.replace(/\.\w+$/, '.shp'))
      if (!isPart) skip({ skipped }, relativePath)
      continue
    }
    if (!canBeAddressed(relativePath)) {
      warnIn(place, coded('scan_no_path', { file: quoted(relativePath) }))
      continue
    }
    const base = relativePath.slice(0, relativePath.length - extname(relativePath).length)
    const sidecars = kind === 'shapefile' ? (parts.get(base) ?? []).map((path) => byPath.get(path) as RemoteFile) : []
    const all = [file, ...sidecars]
    const vector = {
      relativePath,
      fileName: relativePath.slice(relativePath.lastIndexOf('/') + 1),
      name: base.slice(base.lastIndexOf('/') + 1),
      kind,
      path: pathBelow(place.root, file.key),
      size: all.reduce((sum, { facts }) => sum + facts.size, 0),
      modifiedAt: new Date(Math.max(...all.map(({ facts }) => facts.modifiedAt?.getTime() ?? 0))),
      fingerprint: fingerprintOf(all.map(partOf)),
    }
    listed.push({ relativePath, vector, files: all })
  }
  skipped.warnOfAll(place.warnings)
  return listed
}

function partOf({ key, facts }: RemoteFile): FilePart {
  return {
    name: key,
    size: facts.size,
    mtimeMs: facts.modifiedAt?.getTime() ?? 0,
    identity: `${facts.etag} ${facts.size}`,
  }
}

function* batches(unread: readonly Listed[]): Iterable<readonly Listed[]> {
  let batch: Listed[] = []
  let bytes = 0
  for (const one of unread) {
    batch.push(one)
    bytes += one.vector.size
    if (bytes < MAX_BATCH_BYTES && batch.length < MAX_BATCH) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function readBatch(place: RemotePlace, batch: readonly Listed[]): Promise<FoundVector[]> {
  const folder = join(place.scratch, 'vectors')
  const fetched = new Map(batch.map((one) => [one.relativePath, one]))
  const unfetched: FoundVector[] = []
  try {
    await concurrently(each(batch), AT_ONCE, async (one) => {
      place.progress()
      if (isFetchedWhole(one.vector.kind) && one.vector.size > MAX_GEOPACKAGE_BYTES) {
        warnIn(
          place,
          coded('scan_tells_nothing', { file: quoted(one.relativePath), reason: 'said.too_large_to_fetch' }),
        )
        unfetched.push({ ...one.vector, facts: null })
      } else {
        await fetchVector(place, one, folder)
      }
    })
    if (unfetched.length === batch.length) return unfetched
    const { found } = await walk(
      { kind: 'vector', root: folder, known: new Map(), scratch: place.scratch },
      place.signal,
    )
    warnAll(place.warnings, found.warnings)
    const read = (found as FoundVectors).vectors.flatMap(({ relativePath, kind, facts }) => {
      const one = fetched.get(relativePath)
      return one === undefined ? [] : [{ ...one.vector, kind, facts }]
    })
    return [...unfetched, ...read]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** True for kinds whose ends say nothing about the content. */
function isFetchedWhole(kind: VectorKind): boolean {
  return kind !== 'geojson' && kind !== 'geojson_sequence' && kind !== 'shapefile' && kind !== 'flatgeobuf'
}

async function fetchVector({ store, signal }: RemotePlace, { vector, files, relativePath }: Listed, folder: string) {
  const beside = dirname(join(folder, relativePath))
  for (const { key, facts } of files) {
    const name = key === '' ? vector.fileName : key.slice(key.lastIndexOf('/') + 1)
    const fetch = isFetchedWhole(vector.kind) || facts.size <= MAX_WHOLE_BYTES ? fetchWhole : fetchEnds
    await fetch(store, key, join(beside, name), facts, signal)
  }
}

async function* each<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items
}
