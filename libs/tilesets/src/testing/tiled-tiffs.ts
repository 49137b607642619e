/** A tile of the zoom of the image, in Web Mercator. */
interface ImageTile {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly data: Uint8Array
}

export interface TiffOptions {
  readonly compression: 'jpeg' | 'webp'
  readonly isBig?: boolean
  /** JPEG tables that all tiles share, with the markers of start and end; default for JPEG: two markers and a comment */
  readonly tables?: Uint8Array | null
  /** replaces or adds fields: values by tag */
  readonly fields?: Readonly<Record<number, readonly [type: number, values: readonly number[]]>>
}

const HALF = 20037508.342789244
const TILE = 256
const CODES = { jpeg: 7, webp: 50001 }
const [BYTE, SHORT, LONG, DOUBLE, LONG8] = [1, 3, 4, 12, 16]
const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 12: 8, 16: 8 }
export const JPEG_TABLES = Buffer.from('ffd8fffe00067461626cffd9', 'hex')

/** Makes a GeoTIFF of one image, whose tiles have exactly these bytes (TIFF 6.0; GeoTIFF 1.1). Tiles that are not given are absent. */
export function makeTiledTiff(tiles: readonly ImageTile[], options: TiffOptions): Buffer {
  const { compression, isBig = false, fields: more = {} } = options
  const tables = options.tables === undefined && compression === 'jpeg' ? JPEG_TABLES : (options.tables ?? null)
  const extreme = (choose: (...numbers: number[]) => number, key: 'x' | 'y') =>
    tiles.reduce((found, tile) => choose(found, tile[key]), (tiles[0] as ImageTile)[key])
  const [left, top] = [extreme(Math.min, 'x'), extreme(Math.min, 'y')]
  const [columns, rows] = [extreme(Math.max, 'x') - left + 1, extreme(Math.max, 'y') - top + 1]
  const pixel = (2 * HALF) / 2 ** (tiles[0] as ImageTile).z / TILE
  const offsets = new Array<number>(columns * rows).fill(0)
  const lengths = new Array<number>(columns * rows).fill(0)
  const headBytes = isBig ? 16 : 8
  let at = headBytes
  const parts: Uint8Array[] = []
  for (const { x, y, data } of tiles) {
    const index = (y - top) * columns + (x - left)
    offsets[index] = at
    lengths[index] = data.length
    parts.push(data)
    at += data.length
  }
  const corner = [left * TILE * pixel - HALF, HALF - top * TILE * pixel]
  const fields: Record<number, readonly [type: number, values: readonly number[]]> = {
    256: [LONG, [columns * TILE]],
    257: [LONG, [rows * TILE]],
    258: [SHORT, [8, 8, 8]],
    259: [SHORT, [CODES[compression]]],
    262: [SHORT, [compression === 'jpeg' ? 6 : 2]],
    277: [SHORT, [3]],
    284: [SHORT, [1]],
    322: [SHORT, [TILE]],
    323: [SHORT, [TILE]],
    324: [isBig ? LONG8 : LONG, offsets],
    325: [LONG, lengths],
    ...(tables !== null && { 347: [BYTE, [...tables]] }),
    33550: [DOUBLE, [pixel, pixel, 0]],
    33922: [DOUBLE, [0, 0, 0, ...corner, 0]],
    34735: [SHORT, [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 3857]],
    ...more,
  }
  return Buffer.concat([head(isBig, at), ...parts, directory(fields, at, isBig)])
}

function head(isBig: boolean, directoryAt: number): Buffer {
  if (!isBig) return Buffer.concat([Buffer.from('II*\0', 'latin1'), numbers(LONG, [directoryAt])])
  return Buffer.concat([Buffer.from('II+\0', 'latin1'), numbers(SHORT, [8, 0]), numbers(LONG8, [directoryAt])])
}

/** The directory, followed by the values that do not fit into its entries. */
function directory(fields: Required<TiffOptions>['fields'], at: number, isBig: boolean): Buffer {
  const entries = Object.entries(fields)
  const [word, count] = isBig ? [LONG8, LONG8] : [LONG, SHORT]
  const wordBytes = SIZES[word] as number
  let valuesAt = at + (SIZES[count] as number) + entries.length * (4 + 2 * wordBytes) + wordBytes
  const table: Buffer[] = [numbers(count, [entries.length])]
  const values: Buffer[] = []
  for (const [tag, [type, list]] of entries) {
    const bytes = numbers(type, list)
    table.push(numbers(SHORT, [Number(tag), type]), numbers(word, [list.length]))
    if (bytes.length <= wordBytes) table.push(Buffer.concat([bytes, Buffer.alloc(wordBytes - bytes.length)]))
    else {
      table.push(numbers(word, [valuesAt]))
      values.push(bytes)
      valuesAt += bytes.length
    }
  }
  return Buffer.concat([...table, numbers(word, [0]), ...values])
}

function numbers(type: number, list: readonly number[]): Buffer {
  const size = SIZES[type] as number
  const bytes = Buffer.alloc(list.length * size)
  for (const [i, value] of list.entries()) {
    if (type === DOUBLE) bytes.writeDoubleLE(value, i * size)
    else if (type === LONG8) bytes.writeBigUInt64LE(BigInt(value), i * size)
    else bytes.writeUIntLE(value, i * size, size)
  }
  return bytes
}
