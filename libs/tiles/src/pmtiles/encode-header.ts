import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import { Compression, TileType } from 'pmtiles'
import type { TileEncoding } from '../tile-set.js'
import type { Section } from './header.js'
import { HEADER_BYTES, MAGIC, SPEC_VERSION } from './layout.js'

export interface HeaderInput {
  readonly root: Section
  readonly metadata: Section
  readonly leaves: Section
  readonly tiles: Section
  readonly addressedTiles: number
  readonly entries: number
  readonly contents: number
  readonly format: TileFormat
  readonly encoding: TileEncoding
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds
}

const TYPE_OF_FORMAT: Readonly<Record<TileFormat, TileType>> = {
  pbf: TileType.Mvt,
  png: TileType.Png,
  jpg: TileType.Jpeg,
  webp: TileType.Webp,
  avif: TileType.Avif,
}

/** The 127 bytes of a PMTiles 3 header (section 3): clustered, directories and metadata gzipped, centred on the bounds. */
export function encodeHeader(input: HeaderInput): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 'latin1')
  header[7] = SPEC_VERSION
  const { root, metadata, leaves, tiles } = input
  const numbers = [root, metadata, leaves, tiles].flatMap(({ offset, length }) => [offset, length])
  numbers.push(input.addressedTiles, input.entries, input.contents)
  numbers.forEach((number, i) => {
    header.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
  })
  header[96] = 1
  header[97] = Compression.Gzip
  header[98] = input.encoding === 'gzip' ? Compression.Gzip : Compression.None
  header[99] = TYPE_OF_FORMAT[input.format]
  header[100] = input.minZoom
  header[101] = input.maxZoom
  const [west, south, east, north] = input.bounds
  writeDegrees(header, 102, [west, south, east, north])
  header[118] = input.minZoom
  writeDegrees(header, 119, [(west + east) / 2, (south + north) / 2])
  return header
}

/** Degrees are stored in ten-millionths. */
function writeDegrees(header: Buffer, start: number, degrees: readonly number[]): void {
  degrees.forEach((value, i) => {
    header.writeInt32LE(Math.round(value * 1e7), start + 4 * i)
  })
}
