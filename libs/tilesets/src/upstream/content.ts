import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { ServiceTrouble } from '@gateway/core/upstream/service-client.js'
import sharp from 'sharp'
import { encodingOf, imageFormat } from '../formats.js'
import { pngHead } from '../png.js'
import { wordsOf } from './read-service.js'

/** Limit: bytes of an unpacked answer. */
const MAX_PLAIN_BYTES = 64 * 1024 * 1024
/** Encodings that may lie one in the other. */
const MAX_LAYERS = 3

const UNPACK: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>>
> = {
  gzip: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip),
  'x-gzip': promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(brotliDecompress),
}

/** Returns the content of an answer without its encodings, also those that a server has applied twice. Rejects with `ServiceTrouble`. */
export async function plainContent(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  let content = bytes
  try {
    for (const name of encoding
      .toLowerCase()
      .split(',')
      .map((one) => one.trim())
      .reverse()) {
      const unpack = UNPACK[name]
      // Some servers name an encoding that they have not applied.
      if (unpack === undefined || (name.endsWith('gzip') && encodingOf(content) !== 'gzip')) continue
      content = await unpack(content, { maxOutputLength: MAX_PLAIN_BYTES })
    }
    for (let layer = 0; layer < MAX_LAYERS && encodingOf(content) === 'gzip'; layer++)
      content = await (UNPACK.gzip as (typeof UNPACK)[string])(content, { maxOutputLength: MAX_PLAIN_BYTES })
    return content
  } catch (error) {
    throw new ServiceTrouble('wrong', 'its answer cannot be unpacked', { words: (error as Error).message })
  }
}

/** The picture that was asked for. null: nothing is known, so that anything may come. */
export interface Expected {
  readonly formats: readonly TileFormat[] | null
  /** pixels of a side */
  readonly sizes: readonly number[] | null
}

/** Rejects with `ServiceTrouble` if the content is no complete tile of the format, or a picture of another type or size than expected. */
export async function checkTile(
  content: Uint8Array,
  format: TileFormat,
  { formats, sizes }: Expected = { formats: null, sizes: null },
): Promise<void> {
  if (isVectorFormat(format)) {
    if (isText(content))
      throw new ServiceTrouble('wrong', 'it returns text in place of a tile', { words: saidIn(content) })
    return
  }
  const found = imageFormat(content)
  if (found === null)
    throw new ServiceTrouble('wrong', 'it returns no picture', {
      words: isText(content) ? saidIn(content) : 'other data',
    })
  if (!isComplete(content, found)) throw new ServiceTrouble('wrong', 'it returns a picture that is cut off')
  if (formats !== null && !formats.includes(found))
    throw new ServiceTrouble('wrong', `it returns a picture of the type ${found} in place of ${formats.join(' or ')}`)
  if (sizes === null) return
  const { width, height } = pngHead(content) ?? (await metadataOf(content))
  if (width === height && sizes.includes(width)) return
  throw new ServiceTrouble(
    'wrong',
    `it returns a picture of ${width} x ${height} pixels in place of ${sizes.join(' or ')}`,
  )
}

function metadataOf(content: Uint8Array) {
  return sharp(content)
    .metadata()
    .catch((error: Error) => {
      throw new ServiceTrouble('wrong', 'it returns a picture that cannot be read', { words: error.message })
    })
}

/** Returns the words of a document that a service sent in place of a tile. */
export function saidIn(content: Uint8Array): string {
  return wordsOf(Buffer.from(content.subarray(0, 4096)).toString('utf8'))
}

function isText(content: Uint8Array): boolean {
  const start = Buffer.from(content.subarray(0, 64)).toString('latin1').trimStart()
  return /^[<{["A-Za-z]/.test(start) && !start.includes('\0')
}

function isComplete(content: Uint8Array, format: TileFormat): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (format === 'png') return bytes.subarray(-64).includes('IEND')
  if (format === 'jpg') return bytes.subarray(-4096).includes(Buffer.from('ffd9', 'hex'))
  return format !== 'webp' || bytes.length < 8 || bytes.readUInt32LE(4) + 8 <= bytes.length + 1
}
