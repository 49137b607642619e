import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32, createDeflateRaw, deflateRaw } from 'node:zlib'
import type { OpenedFile } from '@gateway/core/files/open-below.js'
import { dataDescriptor, localHeader, ZipDirectory, type ZipEntry } from '@gateway/core/files/zip-records.js'
import type { Bundle, BundleFile } from './bundle.js'
import { CHUNK_BYTES, chunksOf, contentOf, openSource } from './open-source.js'

/** zlib's own default. A higher level makes map data hardly smaller. */
const LEVEL = 6

/** Size from which a file may reach 4 GiB after compression: deflate adds five bytes to each incompressible 16 KiB. */
const LARGE_BYTES = 0xffffffff * 0.999

const deflate = promisify(deflateRaw) as (data: Buffer, options: object) => Promise<Buffer>

/**
 * Yields the bundle as a zip, in blocks, as fast as they are consumed. Its memory is small for any number of files, unlike that of all libraries on
 * npm, which keep an object for each file. The same files give the same bytes, since order and dates come only from them. Throws if a file
 * cannot be read. Ending the iteration early closes open files.
 *
 * @param largeBytes size from which files are written so that they may reach 4 GiB
 */
export async function* zipOf(bundle: Bundle, largeBytes = LARGE_BYTES): AsyncGenerator<Buffer> {
  yield* inBlocks(piecesOf(bundle, largeBytes))
}

async function* piecesOf(bundle: Bundle, largeBytes: number): AsyncGenerator<Buffer> {
  const directory = new ZipDirectory()
  let offset = 0
  for await (const file of bundle.files()) {
    const opened = await openSource(bundle, file)
    // Most tiles are small, and a stream for each would cost more than their bytes.
    const streamed = opened.size > CHUNK_BYTES
    const entry: Entry = {
      name: file.name,
      mtimeMs: opened.mtimeMs,
      deflated: bundle.compressible,
      streamed,
      large: streamed && opened.size >= largeBytes,
      offset,
      crc: 0,
      size: 0,
      packedSize: 0,
    }
    const pieces = streamed ? streamedFile : wholeFile
    for await (const piece of pieces(file, opened, entry)) {
      offset += piece.length
      yield piece
    }
    directory.add(entry)
  }
  yield* directory.blocks(offset)
}

/** Checksum and sizes are filled in while the content is read. */
type Entry = { -readonly [key in keyof ZipEntry]: ZipEntry[key] }

async function* wholeFile(file: BundleFile, opened: OpenedFile, entry: Entry): AsyncGenerator<Buffer> {
  const content = await contentOf(file.name, opened)
  const packed = entry.deflated ? await deflate(content, { level: LEVEL }) : content
  entry.crc = crc32(content)
  entry.size = content.length
  entry.packedSize = packed.length
  yield localHeader(entry)
  yield packed
}

async function* streamedFile(file: BundleFile, opened: OpenedFile, entry: Entry): AsyncGenerator<Buffer> {
  const content = measured(chunksOf(file.name, opened), entry)
  let header = localHeader(entry)
  for await (const piece of entry.deflated ? deflated(content) : content) {
    entry.packedSize += piece.length
    // With the first piece and not earlier: ending the iteration there closes the file.
    yield Buffer.concat([header, piece])
    header = Buffer.alloc(0)
  }
  yield dataDescriptor(entry)
}

async function* measured(chunks: AsyncIterable<Buffer>, entry: Entry): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    entry.crc = crc32(chunk, entry.crc)
    entry.size += chunk.length
    yield chunk
  }
}

function deflated(content: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const source = Readable.from(content, { objectMode: false })
  // The iteration throws an error of the source.
  return pipeline(source, createDeflateRaw({ level: LEVEL }), () => {})
}

/** Joins small pieces into blocks that are worth sending. */
async function* inBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    open.push(piece)
    size += piece.length
    if (size < CHUNK_BYTES) continue
    yield open.length === 1 ? piece : Buffer.concat(open, size)
    open = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(open, size)
}
