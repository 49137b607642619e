import fs from 'node:fs'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { readBounds, readCenter } from '../metadata/fields.js'
import { isRecord, readMetadata, servedGrid, withCenter } from '../metadata/metadata.js'
import { readExactly } from '../read-exactly.js'
import { examineSample, formatBySamples, SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { openArchive, type PmtilesArchive, readJson } from './archive.js'
import { encodingOfTiles, formatOfType } from './header.js'
import { findTile, finish } from './source.js'

/** Probes a PMTiles archive: its header, metadata and one tile. null: nothing to open. Throws `BrokenArchiveError`. */
export async function probePmtiles(root: string, file: string): Promise<TileSetProbe | null> {
  const opening = await openArchive(root, file)
  if (!opening.ok) return nothingToProbe(opening)
  try {
    const { archive } = opening
    return describeArchive(archive, await readJson(archive), await readFirst(archive))
  } finally {
    fs.close(opening.archive.fd, () => {})
  }
}

/** @param identity identifies the archive's content @param fields the metadata @param first the start of its first tile */
export function describeArchive(
  { header, identity }: Pick<PmtilesArchive, 'header' | 'identity'>,
  fields: unknown,
  first: Buffer | null,
): TileSetProbe {
  const metadata = readMetadata(isRecord(fields) ? fields : {})
  const tileMatrixSet = servedGrid(metadata)
  const bytes = formatBySamples(formatOfType(header.tileType) ?? metadata.format, first === null ? [] : [first])
  if (bytes.format === null) throw new BrokenArchiveError('the archive does not name the format of its tiles')
  const { format } = bytes
  const sample = examineSample(format, first)
  return {
    storage: 'pmtiles',
    rowsFromNorth: false,
    rowsAssumed: false,
    format,
    tileSize: sample.tileSize,
    minZoom: header.minZoom,
    maxZoom: header.maxZoom,
    bounds: headerBounds(header.bounds) ?? metadata.bounds,
    boundsDerived: false,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet,
    metadata: withCenter(saidByHeader(header.center) ? readCenter([...header.center]) : null, metadata.other),
    extension: format,
    encoding: encodingOfTiles(header.tileCompression, header.tileType),
    fingerprint: identity,
    warnings: [
      ...(isRecord(fields) ? [] : ['the metadata is not a JSON object']),
      ...metadata.warnings,
      ...bytes.warnings,
      ...sample.warnings,
    ],
  }
}

function headerBounds(bounds: readonly number[]): Bounds | null {
  return saidByHeader(bounds) ? readBounds([...bounds], []) : null
}

/** Writers without bounds or centre leave zeros. */
function saidByHeader(numbers: readonly number[]): boolean {
  return numbers.some((number) => number !== 0)
}

/** Reads the start of the tile with the lowest number. */
async function readFirst(archive: PmtilesArchive): Promise<Buffer | null> {
  const tile = await finish(findTile(archive, new Map(), archive.root.tileIds[0]!), archive.fd)
  return tile === null ? null : readExactly(archive.fd, tile.offset, Math.min(tile.length, SAMPLE_BYTES))
}
