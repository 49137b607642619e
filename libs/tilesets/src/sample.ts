import type { TileFormat } from '@gateway/contracts/basemap.js'
import { imageSize } from 'image-size'
import { encodingOf, sniffFormat } from './formats.js'
import type { TileEncoding } from './tile-set.js'

/** Limit: bytes of a sampled tile that are read; an image tells its size in its first few hundred, behind an ICC profile in some thousand. */
export const SAMPLE_BYTES = 64 * 1024

/** What vector tiles are drawn at (MapLibre's unit), and what raster tiles are taken for where they do not tell. */
const VECTOR_TILE_SIZE = 512
const USUAL_RASTER_TILE_SIZE = 256

export interface TileSample {
  readonly tileSize: number
  readonly encoding: TileEncoding
  readonly warnings: readonly string[]
}

/** Looks at the start of one tile; `data` null: none could be read. */
export function examineSample(format: TileFormat, data: Uint8Array | null): TileSample {
  if (data === null || data.length === 0) {
    return { tileSize: usualSize(format), encoding: 'identity', warnings: ['no tile could be read to look at'] }
  }
  const encoding = encodingOf(data)
  const found = sniffFormat(data)
  const warnings = found === format ? [] : [`tiles are said to be ${format} but look like ${found ?? looksOf(data)}`]
  if (format === 'pbf') return { tileSize: VECTOR_TILE_SIZE, encoding, warnings }
  try {
    const { width, height } = imageSize(data)
    if (width !== height) warnings.push(`tiles are not square: ${width} by ${height} pixels`)
    return { tileSize: width, encoding, warnings }
  } catch {
    warnings.push('the size of a tile could not be read from it')
    return { tileSize: USUAL_RASTER_TILE_SIZE, encoding, warnings }
  }
}

/** The writers of the first vector tiles compressed by zlib, which no map client undoes. */
function looksOf(data: Uint8Array): string {
  return data[0] === 0x78 ? 'data compressed by zlib, not gzip' : 'something else'
}

function usualSize(format: TileFormat): number {
  return format === 'pbf' ? VECTOR_TILE_SIZE : USUAL_RASTER_TILE_SIZE
}
