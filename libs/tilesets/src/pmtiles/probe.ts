import fs from 'node:fs'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { TileType } from 'pmtiles'
import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf } from '../folder/extent.js'
import { spread } from '../folder/listing.js'
import { SIGNATURE_BYTES } from '../formats.js'
import { readBounds, readCenter } from '../metadata/fields.js'
import { isRecord, readMetadata, servedGrid, withCenter } from '../metadata/metadata.js'
import { readExactly } from '../read-exactly.js'
import { boundsWithoutTiles } from '../rows/by-bounds.js'
import { examineSample, formatBySamples, looksLikeMvt, SAMPLE_BYTES, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { openArchive, type PmtilesArchive, readJson } from './archive.js'
import { encodingOfTiles, formatOfType } from './header.js'
import { extentsBeside, type Listing, zoomsOfTiles } from './list-tiles.js'
import { findTile, finish, type Leaves, type Search } from './source.js'

/** Probes a PMTiles archive: its header, metadata and one tile. null: nothing to open. Throws `BrokenArchiveError`. */
export async function probePmtiles(root: string, file: string): Promise<TileSetProbe | null> {
  const opening = await openArchive(root, file)
  if (!opening.ok) return nothingToProbe(opening)
  try {
    const { archive } = opening
    const leaves: Leaves = new Map()
    const samples = await readSamples(archive, leaves)
    const listing = { archive, leaves, maxLeaves: MAX_LISTED_LEAVES }
    return await finish(describeArchive(listing, await readJson(archive), samples), archive.fd)
  } finally {
    fs.close(opening.archive.fd, () => {})
  }
}

/** @param fields the metadata @param samples the first bytes of some tiles, the first one first */
export function* describeArchive(
  listing: Listing<Pick<PmtilesArchive, 'header' | 'root' | 'identity'>>,
  fields: unknown,
  samples: readonly Buffer[],
): Search<TileSetProbe> {
  const { header, identity } = listing.archive
  const metadata = readMetadata(isRecord(fields) ? fields : {})
  const tileMatrixSet = servedGrid(metadata)
  const said = formatOfType(header.tileType) ?? metadata.format
  const bytes = formatBySamples(said, samples)
  // Any data can be packed by gzip.
  const isOther = said === null && bytes.format === 'pbf' && !samples.some((one) => looksLikeMvt(one))
  if (bytes.format === null || isOther) throw unknownFormat(header)
  const { format } = bytes
  const warnings: string[] = []
  if (header.tileType !== TileType.Unknown && formatOfType(header.tileType) === null)
    warnings.push(
      `the tiles are declared as type ${header.tileType}, but their bytes are ${format}: they are served as ${format}`,
    )
  const first = samples[0] ?? null
  const packed = encodingOfTiles(header, first)
  const sample = examineSample(format, sampleOf(format, samples))
  const zoom = zoomRange(header.zoomsSaid, yield* zoomsOfTiles(listing))
  const bounds = headerBounds(header.bounds, warnings) ?? metadata.bounds
  const extents = bounds === null ? [] : yield* extentsBeside(listing, bounds, tileMatrixSet)
  const without = boundsWithoutTiles(extents, bounds, tileMatrixSet)
  return {
    storage: 'pmtiles',
    rowsFromNorth: false,
    rowsAssumed: false,
    format,
    formats: bytes.formats,
    tileSize: sample.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: without === null ? bounds : extentOf(extents, 'xyz', { tileMatrixSet }),
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
      ...(isRecord(fields)
        ? []
        : ['the metadata is ignored: it is not a JSON object, plain or compressed as the header says']),
      ...metadata.warnings,
      ...warnings,
      ...bytes.warnings,
      ...packed.warnings,
      ...zoom.warnings,
      ...(without === null ? [] : [without]),
      ...sample.warnings,
    ],
  }
}

function unknownFormat({ tileType }: Pick<PmtilesArchive['header'], 'tileType'>): BrokenArchiveError {
  return new BrokenArchiveError(
    tileType === TileType.Unknown
      ? 'the archive does not name the format of its tiles'
      : `tiles of type ${tileType} are not supported`,
  )
}

function headerBounds(bounds: readonly number[], warnings: string[]): Bounds | null {
  return saidByHeader(bounds) ? readBounds([...bounds], warnings) : null
}

/** Writers without bounds or centre leave zeros. */
function saidByHeader(numbers: readonly number[]): boolean {
  return numbers.some((number) => number !== 0)
}

/** Maximum number of leaf directories that are read to list all tiles of an archive. */
const MAX_LISTED_LEAVES = 16

/** Maximum number of tiles whose first bytes are read: SAMPLE_BYTES of the first one, which has the size of an image, and the signatures of others. */
const MAX_SAMPLES = 16

/** Returns the numbers of some tiles: the first one, and others that the root directory spreads over the archive. */
export function sampledTiles({ root }: Pick<PmtilesArchive, 'root'>, limit: number): number[] {
  return [...new Set([root.tileIds[0]!, ...spread([...root.tileIds], limit)])]
}

/** Reads the first bytes of some tiles, that of the lowest number first. */
async function readSamples(archive: PmtilesArchive, leaves: Leaves): Promise<Buffer[]> {
  const samples: Buffer[] = []
  for (const [i, tileId] of sampledTiles(archive, MAX_SAMPLES).entries()) {
    const tile = await finish(findTile(archive, leaves, tileId), archive.fd)
    const limit = i === 0 ? SAMPLE_BYTES : SIGNATURE_BYTES
    if (tile !== null) samples.push(await readExactly(archive.fd, tile.offset, Math.min(tile.length, limit)))
  }
  return samples
}
