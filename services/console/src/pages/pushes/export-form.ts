import type { TileFormat } from '@gateway/contracts/basemap.js'
import type { ExportFormat, ExportInput } from '@gateway/contracts/export.js'

/** Returns the archive formats that can hold tiles of a format. */
export function archivesOf(format: TileFormat): readonly ExportFormat[] {
  const isPicture = format === 'png' || format === 'jpg' || format === 'webp'
  return isPicture ? ['pmtiles', 'mbtiles', 'gpkg', 'tpkx'] : ['pmtiles', 'mbtiles']
}

/** Parses west, south, east and north, separated by commas or blanks. Returns undefined for an empty text and null for an invalid one. */
export function parseBounds(text: string): ExportInput['bounds'] | null {
  if (text.trim() === '') return undefined
  const parts = text.trim().split(/[\s,;]+/)
  const [west, south, east, north] = parts.map(Number)
  if (parts.length !== 4 || west === undefined || south === undefined || east === undefined || north === undefined)
    return null
  const isEarth = [west, east].every((x) => Math.abs(x) <= 180) && [south, north].every((y) => Math.abs(y) <= 90)
  return isEarth && south < north && west !== east ? [west, south, east, north] : null
}
