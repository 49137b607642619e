import { createHash } from 'node:crypto'
import type { ObjectStore, ReadOptions } from '@gateway/core/object-storage/object-store.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { type FolderMetadata, MAX_FILE_BYTES, readMetadataFiles } from '../metadata/file.js'
import { servedGrid } from '../metadata/metadata.js'
import { examineSample, SAMPLE_BYTES } from '../sample.js'
import { TILE_MATRIX_SETS, tileMatrixLimits } from '../tile-matrix-sets.js'
import type { TileSetProbe } from '../tile-set.js'
import { type ListedZoom, listObjectZooms } from './list-objects.js'
import { describeFolder } from './probe.js'

/** `probeFolder` for objects below a prefix, which ends with a slash or is empty. Rejects with the store's errors. */
export async function probeObjects(
  store: ObjectStore,
  prefix: string,
  options: ReadOptions = {},
): Promise<TileSetProbe | null> {
  const metadata = await metadataOf(store, prefix, options)
  return describeFolder(metadata, (grid) => listObjectZooms(store, prefix, grid, options), {
    start: ({ path }) => startOf(store, path, options),
    fingerprint: (about, zooms) => fingerprintOf(about, metadata, zooms),
  })
}

/**
 * Probes a directory of tiles that cannot be listed. All facts come from its tilejson.json, which must name the format and the
 * zooms. Returns null without that file. Rejects with `BrokenArchiveError` and the store's errors.
 */
export async function probeUnlisted(store: ObjectStore, options: ReadOptions = {}): Promise<TileSetProbe | null> {
  const metadata = await metadataOf(store, '', options)
  if (metadata.content.length === 0) return null
  const { format, minZoom, maxZoom } = metadata
  if (format === null || minZoom === null || maxZoom === null || minZoom > maxZoom) {
    throw new BrokenArchiveError(
      'its tilejson.json must have format, minzoom and maxzoom: the directory cannot be listed',
    )
  }
  if (metadata.unserved !== null) throw new BrokenArchiveError(metadata.unserved)
  const tileMatrixSet = servedGrid(metadata)
  const storage = metadata.scheme ?? 'xyz'
  const set = TILE_MATRIX_SETS[tileMatrixSet]
  const { minColumn, minRow } = tileMatrixLimits(set, minZoom, metadata.bounds)
  const row = storage === 'tms' ? 2 ** minZoom - 1 - minRow : minRow
  const sample = examineSample(format, await startOf(store, `${minZoom}/${minColumn}/${row}.${format}`, options))
  return {
    ...metadata,
    storage,
    rowsFromNorth: false,
    rowsAssumed: false,
    boundsDerived: false,
    format,
    tileSize: sample.tileSize,
    minZoom,
    maxZoom,
    tileMatrixSet,
    metadata: metadata.other,
    extension: format,
    encoding: sample.encoding,
    fingerprint: fingerprintOf([storage, format], metadata, []),
    warnings: [...metadata.warnings, ...sample.warnings],
  }
}

function metadataOf(store: ObjectStore, prefix: string, options: ReadOptions): Promise<FolderMetadata> {
  return readMetadataFiles(async (name, warnings) => {
    const facts = await store.head(`${prefix}${name}`, options)
    if (facts === undefined || facts.size === 0) return null
    if (facts.size > MAX_FILE_BYTES) {
      warnings.push(`${name} is ignored: larger than ${MAX_FILE_BYTES} bytes`)
      return null
    }
    const range = { offset: 0, length: facts.size }
    return (await store.read(`${prefix}${name}`, range, { ...options, ifMatch: facts.etag })).bytes
  })
}

async function startOf(store: ObjectStore, key: string, options: ReadOptions): Promise<Buffer | null> {
  const facts = await store.head(key, options)
  if (facts === undefined) return null
  return (await store.read(key, { offset: 0, length: SAMPLE_BYTES }, options)).bytes
}

function fingerprintOf(about: readonly string[], metadata: FolderMetadata, zooms: readonly ListedZoom[]): string {
  const hash = createHash('sha256').update(JSON.stringify(about))
  for (const content of metadata.content) hash.update(`\n${content.length}\n`).update(content)
  for (const { z, columns, marks } of zooms) hash.update(`\n${z}\n${columns.join()}\n${marks.join('\n')}`)
  return hash.digest('hex').slice(0, 32)
}
