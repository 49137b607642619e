import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'

const pack = promisify(deflate)

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** Colour types by the number of channels (PNG, 11.2.1). */
const COLOUR_TYPES = new Map([
  [3, 2],
  [4, 6],
])
const BITS = 8
/** Bytes of the signature and of the first chunk, and the colour types without a channel or a table of opacity. */
const HEAD_BYTES = 33
const OPAQUE_TYPES: ReadonlySet<number> = new Set([0, 2])

/** A part of an image in memory, with 8 bits for each sample. */
export interface RawPart {
  readonly data: Uint8Array
  /** pixels of a row of the whole image */
  readonly stride: number
  readonly channels: number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/**
 * Writes a part of an image as PNG, in a thread. libvips takes two to three times as long for the same bytes. Rows have no filter, which suits maps.
 * @param level of zlib, 1 to 9
 */
export async function encodePng(part: RawPart, level: number): Promise<Buffer> {
  const { data, stride, channels, left, top, width, height } = part
  const bytes = width * channels
  const rows = Buffer.allocUnsafe((bytes + 1) * height)
  for (let row = 0, at = 0; row < height; row++, at += bytes + 1) {
    const from = ((top + row) * stride + left) * channels
    rows[at] = 0
    rows.set(data.subarray(from, from + bytes), at + 1)
  }
  return pngOf(rows, { width, height, channels }, level)
}

/** Returns the file of an image whose rows each begin with the number of their filter. */
export async function pngOf(
  rows: Uint8Array,
  { width, height, channels }: Pick<RawPart, 'width' | 'height' | 'channels'>,
  level: number,
): Promise<Buffer> {
  const colourType = COLOUR_TYPES.get(channels)
  if (colourType === undefined) throw new Error(`PNG has no images of ${channels} channels`)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = BITS
  head[9] = colourType
  const packed = await pack(rows, { level })
  return Buffer.concat([SIGNATURE, ...chunk('IHDR', head), ...chunk('IDAT', packed), ...chunk('IEND', Buffer.alloc(0))])
}

/** Returns the size of a PNG, and whether it may have transparent pixels; null: the file does not begin as a PNG does. */
export function pngHead(file: Uint8Array) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (
    bytes.length < HEAD_BYTES ||
    !bytes.subarray(0, 8).equals(SIGNATURE) ||
    bytes.toString('latin1', 12, 16) !== 'IHDR'
  )
    return null
  const isOpaque = OPAQUE_TYPES.has(bytes[25] as number) && !bytes.subarray(0, bytes.indexOf('IDAT')).includes('tRNS')
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), hasAlpha: !isOpaque }
}

function chunk(type: string, data: Uint8Array): Uint8Array[] {
  const begin = Buffer.alloc(8)
  begin.writeUInt32BE(data.length, 0)
  begin.write(type, 4, 'latin1')
  const end = Buffer.alloc(4)
  end.writeUInt32BE(crc32(data, crc32(begin.subarray(4))), 0)
  return [begin, data, end]
}
