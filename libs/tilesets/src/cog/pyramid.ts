import type { Bounds, KnownTileMatrixSetId, TileFormat } from '@gateway/contracts/basemap.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { degreesOf, describeMatrix, fitInGrid, gridOfCode, type MatrixFit } from '../grid-fit.js'
import type { ArchiveOfRanges, RangeLayout, ReadSection, SectionSearch } from '../ranges/source.js'
import { finish } from '../ranges/source.js'
import type { TilePlace } from '../source.js'
import { TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import { bytesOf, type Field, numberAt, numbersOf, type Reads, readTiff } from './tiff.js'

/** Tags (TIFF 6.0; GeoTIFF 1.1; libtiff for JPEG and WebP). */
const TAG = {
  subfile: 254,
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  samples: 277,
  planar: 284,
  tileWidth: 322,
  tileHeight: 323,
  offsets: 324,
  sizes: 325,
  jpegTables: 347,
  pixelScale: 33550,
  tiePoint: 33922,
  transformation: 34264,
  geoKeys: 34735,
  nodata: 42113,
} as const
const KEY = { geographic: 2048, projected: 3072, rasterType: 1025 } as const
const JPEG = 7
const WEBP = 50001
const RGB = 2
const MASK = 4

/** Limits: pixels of a tile's side, and tiles of a zoom (an index of 1.2 GB). */
const [MIN_TILE_SIZE, MAX_TILE_SIZE] = [64, 4_096]
const MAX_TILES = 100_000_000

/** Maximum size of a tile in bytes; JPEG tiles are assembled in memory. */
const MAX_TILE_BYTES = 32 * 1024 * 1024

/** A zoom of a COG: an image of its pyramid. */
interface CogZoom extends MatrixFit {
  readonly columns: number
  readonly rows: number
  readonly offsets: Field
  readonly sizes: Field
  /** bytes to put before each tile: the tables that all tiles share */
  readonly head: Uint8Array | null
}

export interface Cog {
  readonly path: string
  /** bytes of the file */
  readonly size: number
  readonly isLittle: boolean
  readonly grid: KnownTileMatrixSetId
  readonly format: TileFormat
  readonly tileSize: number
  readonly zooms: ReadonlyMap<number, CogZoom>
  readonly bounds: Bounds | null
  readonly warnings: readonly string[]
}

/** Reads the description of a COG. Throws `BrokenArchiveError` if its tiles cannot be served unchanged. */
export function* readCog(path: string, size: number): Reads<Cog> {
  const { isLittle, directories } = yield* readTiff(path, size)
  const [full] = directories
  if (full === undefined) throw new BrokenArchiveError('it holds no image')
  const one = function* (fields: ReadonlyMap<number, Field>, tag: number, otherwise: number): Reads<number> {
    const field = fields.get(tag)
    return field === undefined ? otherwise : yield* numberAt(path, field, 0, isLittle)
  }
  const many = function* (tag: number): Reads<number[]> {
    const field = full.get(tag)
    return field === undefined ? [] : yield* numbersOf(path, field, isLittle)
  }
  const tileSize = yield* one(full, TAG.tileWidth, 0)
  if (tileSize === 0 || !full.has(TAG.offsets) || !full.has(TAG.sizes)) throw unfit('its image is not tiled')
  if ((yield* one(full, TAG.tileHeight, 0)) !== tileSize) throw unfit('its tiles are not square')
  if (tileSize < MIN_TILE_SIZE || tileSize > MAX_TILE_SIZE) throw unfit(`its tiles have ${tileSize} pixels`)
  const compression = yield* one(full, TAG.compression, 1)
  if (compression !== JPEG && compression !== WEBP) throw unfit('its tiles are neither JPEG nor WebP')
  const bits = yield* many(TAG.bits)
  if (bits.some((each) => each !== 8)) throw unfit(`its samples have ${bits[0]} bits and not 8`)
  const samples = yield* one(full, TAG.samples, 1)
  if (samples > 1 && (yield* one(full, TAG.planar, 1)) !== 1) throw unfit('its bands lie in separate tiles')
  if (compression === JPEG && samples !== 1 && samples !== 3) throw unfit(`its JPEG tiles have ${samples} bands`)
  const keys = yield* many(TAG.geoKeys)
  const code = keyOf(keys, KEY.projected) ?? keyOf(keys, KEY.geographic)
  const grid = code === null ? null : gridOfCode(code)
  if (grid === null) throw unfit(`it lies in ${code === null ? 'no system with an EPSG code' : `EPSG:${code}`}`)
  const scale = yield* many(TAG.pixelScale)
  const tie = yield* many(TAG.tiePoint)
  if (scale.length < 2 || tie.length < 6 || full.has(TAG.transformation))
    throw unfit('it has no corner and size of a pixel')
  const [scaleX, scaleY] = scale as [number, number]
  const shift = keyOf(keys, KEY.rasterType) === 2 ? 0.5 : 0
  const left = tie[3]! - (tie[0]! + shift) * scaleX
  const top = tie[4]! + (tie[1]! + shift) * scaleY
  const [width, height] = [yield* one(full, TAG.width, 0), yield* one(full, TAG.height, 0)]
  const zooms = new Map<number, CogZoom>()
  const off: string[] = []
  let isMasked = false
  for (const fields of directories) {
    const kind = yield* one(fields, TAG.subfile, 0)
    if ((kind & MASK) !== 0) isMasked = true
    if ((kind & MASK) !== 0) continue
    const [ownWidth, ownHeight] = [yield* one(fields, TAG.width, 0), yield* one(fields, TAG.height, 0)]
    const [offsets, sizes] = [fields.get(TAG.offsets), fields.get(TAG.sizes)]
    const isAlike =
      (yield* one(fields, TAG.compression, 1)) === compression && offsets !== undefined && sizes !== undefined
    const ownTile = yield* one(fields, TAG.tileWidth, 0)
    if (!isAlike || ownWidth === 0 || ownHeight === 0 || ownTile !== tileSize) continue
    const tileWidth = ((scaleX * width) / ownWidth) * ownTile
    const tileHeight = ((scaleY * height) / ownHeight) * ownTile
    const matrix = { left, top, tileWidth, tileHeight }
    const fit = fitInGrid(grid, matrix)
    if (fit === null || fit.column < 0 || fit.row < 0 || zooms.has(fit.z)) {
      off.push(`${ownWidth} by ${ownHeight} pixels (${describeMatrix(matrix)})`)
      if (fields === full) throw unfit(`its tiles are not those of ${grid}: ${describeMatrix(matrix)}`)
      continue
    }
    const [columns, rows] = [Math.ceil(ownWidth / ownTile), Math.ceil(ownHeight / ownTile)]
    if (columns * rows > MAX_TILES) throw new BrokenArchiveError('an image has more tiles than allowed')
    if (offsets.count < columns * rows || sizes.count < columns * rows)
      throw new BrokenArchiveError('its index has too few entries')
    const tables = fields.get(TAG.jpegTables)
    const photometric = yield* one(fields, TAG.photometric, 0)
    const head =
      compression === JPEG ? jpegHead(tables === undefined ? null : yield* bytesOf(path, tables), photometric) : null
    zooms.set(fit.z, { ...fit, columns, rows, offsets, sizes, head })
  }
  if (zooms.size === 0) throw unfit('it contains only masks')
  const warnings: string[] =
    off.length === 0
      ? []
      : [
          `its overviews of ${off.slice(0, 5).join(', ')} do not lie on the grid and are not served: make it with ALIGNED_LEVELS`,
        ]
  if (isMasked) warnings.push(MASKED)
  else if (full.has(TAG.nodata) && samples <= 3) warnings.push(NO_DATA)
  const bounds = degreesOf(grid, [left, top - scaleY * height, left + scaleX * width, top])
  return {
    path,
    size,
    isLittle,
    grid,
    format: compression === JPEG ? 'jpg' : 'webp',
    tileSize,
    zooms,
    bounds,
    warnings,
  }
}

const REMEDY = 'Make it with -co COMPRESS=WEBP and -co ADD_ALPHA=YES, or slice it'
/** A warning of a mask, in the file or in `.msk` next to it. */
export const MASKED = `it has a mask, which its tiles do not carry: the masked part is not transparent, and mostly black. ${REMEDY}`
const NO_DATA = `it declares a nodata value, which its tiles do not carry: these pixels are not transparent. ${REMEDY}`

function unfit(why: string): BrokenArchiveError {
  return new BrokenArchiveError(
    `${why}: only Cloud Optimized GeoTIFFs of 8 bits with JPEG or WebP tiles on the grid are served ` +
      '(gdal_translate -of COG -co TILING_SCHEME=GoogleMapsCompatible -co COMPRESS=WEBP)',
  )
}

/** Returns a short value from the directory of GeoTIFF keys (GeoTIFF 1.1, section 7.1.2). */
function keyOf(keys: readonly number[], wanted: number): number | null {
  for (let i = 4; i + 3 < keys.length; i += 4) {
    if (keys[i] === wanted && keys[i + 1] === 0) return keys[i + 3]!
  }
  return null
}

/** The marker that begins a JPEG image. */
export const SOI = Buffer.from([0xff, 0xd8])
/** Adobe's marker for untransformed colours. Without it, readers interpret three bands as YCbCr. */
const PLAIN_COLOURS = Buffer.from('ffee000e41646f626500640000000000', 'hex')

/** Returns the start of each JPEG tile, which replaces the tile's first two bytes. null: tiles are complete. */
function jpegHead(tables: Buffer | null, photometric: number): Uint8Array | null {
  const isRgb = photometric === RGB
  if (tables === null && !isRgb) return null
  const isWhole = tables !== null && tables.length >= 4 && tables.subarray(0, 2).equals(SOI)
  if (tables !== null && !isWhole) throw new BrokenArchiveError('its JPEG tables are damaged')
  return Buffer.concat([SOI, ...(isRgb ? [PLAIN_COLOURS] : []), ...(tables === null ? [] : [tables.subarray(2, -2)])])
}

export class CogLayout implements RangeLayout {
  readonly #cog: Cog
  readonly archive?: ArchiveOfRanges

  /** @param archive the same tiles, numbered */
  constructor(cog: Cog, archive: ArchiveOfRanges | null = null) {
    this.#cog = cog
    if (archive !== null) this.archive = archive
  }

  *find({ z, x, y }: TilePlace): SectionSearch {
    const { path, isLittle, zooms } = this.#cog
    const zoom = zooms.get(z)
    if (zoom === undefined) return null
    const [column, row] = [x - zoom.column, y - zoom.row]
    if (column < 0 || row < 0 || column >= zoom.columns || row >= zoom.rows) return null
    const index = row * zoom.columns + column
    const length = yield* numberAt(path, zoom.sizes, index, isLittle)
    if (length === 0) return null
    const offset = yield* numberAt(path, zoom.offsets, index, isLittle)
    if (length > MAX_TILE_BYTES || length < SOI.length) throw new BrokenArchiveError('a tile has an impossible size')
    if (zoom.head === null) return { path, offset, length }
    return { path, offset: offset + SOI.length, length: length - SOI.length, head: zoom.head }
  }

  async *addresses(zoom: number, read: ReadSection): AsyncGenerator<readonly [x: number, y: number]> {
    const own = this.#cog.zooms.get(zoom)
    if (own === undefined) return
    const width = (TILE_MATRIX_SETS[this.#cog.grid].columns ?? 1) * 2 ** zoom
    for (let row = 0; row < own.rows; row++) {
      for (let column = 0; column < own.columns; column++) {
        const [x, y] = [own.column + column, own.row + row]
        if (x >= width || y >= 2 ** zoom) continue
        const section = await finish(this.find({ z: zoom, x, y }), read)
        if (section !== null) yield [x, y]
      }
    }
  }
}
