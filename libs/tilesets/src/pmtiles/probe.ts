import fs from 'node:fs'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { tileIdToZxy } from 'pmtiles'
import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf, type ZoomExtent } from '../folder/extent.js'
import { spread } from '../folder/listing.js'
import { SIGNATURE_BYTES } from '../formats.js'
import { readBounds, readCenter } from '../metadata/fields.js'
import { isRecord, readMetadata, servedGrid, withCenter } from '../metadata/metadata.js'
import { readExactly } from '../read-exactly.js'
import { boundsWithoutTiles } from '../rows/by-bounds.js'
import { examineSample, formatBySamples, SAMPLE_BYTES, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { openArchive, type PmtilesArchive, readJson, zoomOf } from './archive.js'
import { encodingOfTiles, formatOfType } from './header.js'
import { MAX_PMTILES_ZOOM } from './layout.js'
import { findTile, finish } from './source.js'

/** Probes a PMTiles archive: its header, metadata and one tile. null: nothing to open. Throws `BrokenArchiveError`. */
export async function probePmtiles(root: string, file: string): Promise<TileSetProbe | null> {
  const opening = await openArchive(root, file)
  if (!opening.ok) return nothingToProbe(opening)
  try {
    const { archive } = opening
    return describeArchive(archive, await readJson(archive), await readSamples(archive))
  } finally {
    fs.close(opening.archive.fd, () => {})
  }
}

/** @param identity identifies the archive's content @param fields the metadata @param samples the first bytes of some tiles, the first one first */
export function describeArchive(
  { header, root, identity }: Pick<PmtilesArchive, 'header' | 'root' | 'identity'>,
  fields: unknown,
  samples: readonly Buffer[],
): TileSetProbe {
  const metadata = readMetadata(isRecord(fields) ? fields : {})
  const tileMatrixSet = servedGrid(metadata)
  const bytes = formatBySamples(formatOfType(header.tileType) ?? metadata.format, samples)
  if (bytes.format === null) throw new BrokenArchiveError('the archive does not name the format of its tiles')
  const { format } = bytes
  const first = samples[0] ?? null
  const packed = encodingOfTiles(header, first)
  const sample = examineSample(format, sampleOf(format, samples))
  const zoom = zoomRange(header, foundZooms({ header, root }))
  const bounds = headerBounds(header.bounds) ?? metadata.bounds
  const without = boundsWithoutTiles(extentsOf(root), bounds, tileMatrixSet)
  return {
    storage: 'pmtiles',
    rowsFromNorth: false,
    rowsAssumed: false,
    format,
    formats: bytes.formats,
    tileSize: sample.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: without === null ? bounds : extentOf(extentsOf(root), 'xyz', { tileMatrixSet }),
    boundsDerived: without !== null,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet,
    metadata: withCenter(saidByHeader(header.center) ? readCenter([...header.center]) : null, metadata.other),
    extension: format,
    encoding: packed.encoding,
    fingerprint: identity,
    warnings: [
      ...(isRecord(fields) ? [] : ['the metadata is not a JSON object']),
      ...metadata.warnings,
      ...bytes.warnings,
      ...packed.warnings,
      ...zoom.warnings,
      ...(without === null ? [] : [without]),
      ...sample.warnings,
    ],
  }
}

/** The zooms of the tiles, as far as the root directory tells: leaf directories may lead to deeper ones. */
function foundZooms({ header, root }: Pick<PmtilesArchive, 'header' | 'root'>) {
  const [first, last] = [zoomOf(root.tileIds[0]!), zoomOf(root.tileIds.at(-1)!)]
  return { minZoom: first, maxZoom: root.runLengths.at(-1)! > 0 ? last : Math.max(last, header.maxZoom) }
}

/** The columns and rows of the zooms of an archive whose root directory has all tiles; otherwise nothing is known. */
function extentsOf({ tileIds, runLengths }: PmtilesArchive['root']): ZoomExtent[] {
  const found = new Map<number, ZoomExtent>()
  if (runLengths.some((length) => length !== 1) || zoomOf(tileIds.at(-1)!) === MAX_PMTILES_ZOOM) return []
  for (const tileId of tileIds) {
    const [z, x, y] = tileIdToZxy(tileId)
    const known = found.get(z) ?? { minColumn: x, maxColumn: x, minRow: y, maxRow: y }
    found.set(z, {
      z,
      complete: true,
      minColumn: Math.min(known.minColumn, x),
      maxColumn: Math.max(known.maxColumn, x),
      minRow: Math.min(known.minRow, y),
      maxRow: Math.max(known.maxRow, y),
    })
  }
  return [...found.values()].sort((one, other) => one.z - other.z)
}

function headerBounds(bounds: readonly number[]): Bounds | null {
  return saidByHeader(bounds) ? readBounds([...bounds], []) : null
}

/** Writers without bounds or centre leave zeros. */
function saidByHeader(numbers: readonly number[]): boolean {
  return numbers.some((number) => number !== 0)
}

/** Maximum number of tiles whose first bytes are read: SAMPLE_BYTES of the first one, which has the size of an image, and the signatures of others. */
const MAX_SAMPLES = 16

/** Returns the numbers of some tiles: the first one, and others that the root directory spreads over the archive. */
export function sampledTiles({ root }: Pick<PmtilesArchive, 'root'>, limit: number): number[] {
  return [...new Set([root.tileIds[0]!, ...spread([...root.tileIds], limit)])]
}

/** Reads the first bytes of some tiles, that of the lowest number first. */
async function readSamples(archive: PmtilesArchive): Promise<Buffer[]> {
  const leaves = new Map()
  const samples: Buffer[] = []
  for (const [i, tileId] of sampledTiles(archive, MAX_SAMPLES).entries()) {
    const tile = await finish(findTile(archive, leaves, tileId), archive.fd)
    const limit = i === 0 ? SAMPLE_BYTES : SIGNATURE_BYTES
    if (tile !== null) samples.push(await readExactly(archive.fd, tile.offset, Math.min(tile.length, limit)))
  }
  return samples
}
