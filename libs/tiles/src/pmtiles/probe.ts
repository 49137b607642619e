import fs from 'node:fs'
import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import type { TileType } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import { readBounds } from '../metadata/fields.js'
import { isRecord, readMetadata } from '../metadata/metadata.js'
import { nothingToProbe } from '../nothing-to-probe.js'
import { readExactly } from '../read-exactly.js'
import { examineSample, SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { openArchive, type PmtilesArchive } from './archive.js'
import { encodingOfTiles, formatOfType } from './header.js'

/** Looks at a PMTiles archive: header, metadata and one tile. null: nothing to open. Throws `BrokenArchiveError`. */
export function probePmtiles(root: string, file: string): TileSetProbe | null {
  const opening = openArchive(root, file)
  if (!opening.ok) return nothingToProbe(opening)
  try {
    return describe(opening.archive)
  } finally {
    fs.closeSync(opening.archive.fd)
  }
}

function describe(archive: PmtilesArchive): TileSetProbe {
  const { header } = archive
  const fields = archive.readMetadata()
  const metadata = readMetadata(isRecord(fields) ? fields : {})
  const format = knownFormat(header.tileType, metadata.format)
  const sample = examineSample(format, readFirst(archive))
  return {
    storage: 'pmtiles',
    format,
    tileSize: sample.tileSize,
    minZoom: header.minZoom,
    maxZoom: header.maxZoom,
    bounds: headerBounds(header.bounds) ?? metadata.bounds,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    extension: format,
    encoding: encodingOfTiles(header.tileCompression, header.tileType),
    fingerprint: archive.identity,
    warnings: [
      ...(isRecord(fields) ? [] : ['the metadata is not a JSON object']),
      ...metadata.warnings,
      ...sample.warnings,
    ],
  }
}

function knownFormat(type: TileType, said: TileFormat | null): TileFormat {
  const format = formatOfType(type) ?? said
  if (format === null) throw new BrokenArchiveError('the archive does not say of what format its tiles are')
  return format
}

/** Writers that know no bounds leave zeros. */
function headerBounds(bounds: readonly number[]): Bounds | null {
  return bounds.every((degrees) => degrees === 0) ? null : readBounds([...bounds], [])
}

function readFirst(archive: PmtilesArchive): Buffer | null {
  const tile = archive.first()
  return tile === null ? null : readExactly(archive.fd, tile.offset, Math.min(tile.length, SAMPLE_BYTES))
}
