import { Readable } from 'node:stream'
import { ZipArchive } from 'archiver'
import { BlockQueue } from './block-queue.js'
import type { Bundle, BundleFile } from './bundle.js'
import { CHUNK_BYTES, chunksOf, contentOf, openSource } from './open-source.js'

/** zlib's own default; more makes map data hardly smaller. */
const LEVEL = 6
const FILE_MODE = 0o644

/**
 * Some files of a bundle as a zip of their own, produced as fast as it is consumed, in even blocks. The same files give the same bytes:
 * order, dates and modes come from them alone. Throws where a file cannot be read. Ending the iteration early closes what is open.
 *
 * archiver writes its directory at the end in twenty pieces for each file, all at once. Taken from it by a consumer that waits, they
 * would take 5 KB of memory for each file; so its output is taken at once, and the waiting is done where files are handed in.
 */
export async function* partOf(bundle: Bundle, files: readonly BundleFile[]): AsyncGenerator<Buffer> {
  const archive = new ZipArchive({ store: !bundle.compressible, zlib: { level: LEVEL } })
  const queue = new BlockQueue()
  archive.on('data', (piece: Buffer) => queue.add(piece))
  archive.on('end', () => queue.end())
  archive.on('error', (error) => queue.end(error))
  const feeding = feed(archive, bundle, files, queue).catch((error) => queue.end(error))
  try {
    for (let block = await queue.take(); block !== null; block = await queue.take()) yield block
  } finally {
    queue.close()
    archive.destroy()
    await feeding
  }
}

async function feed(
  archive: ZipArchive,
  bundle: Bundle,
  files: readonly BundleFile[],
  queue: BlockQueue,
): Promise<void> {
  for (const file of files) {
    await queue.room()
    const opened = await openSource(bundle, file)
    const entry = { name: file.name, date: new Date(opened.mtimeMs), mode: FILE_MODE }
    // Most tiles are small, and a stream for each would cost more than their bytes.
    if (opened.size <= CHUNK_BYTES) await append(archive, await contentOf(file.name, opened), entry)
    else await append(archive, Readable.from(paced(chunksOf(file.name, opened), queue), { objectMode: false }), entry)
  }
  await archive.finalize()
}

async function* paced(chunks: AsyncIterable<Buffer>, queue: BlockQueue): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    await queue.room()
    yield chunk
  }
}

function append(archive: ZipArchive, source: Readable | Buffer, entry: { name: string; date: Date; mode: number }) {
  return new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => {
      archive.off('entry', done).off('close', closed)
      if (error === undefined) return resolve()
      if (source instanceof Readable) source.destroy()
      reject(error)
    }
    const done = () => settle()
    const closed = () => settle(new Error('nobody wants the rest'))
    archive.once('entry', done).once('close', closed)
    if (source instanceof Readable) source.once('error', settle)
    archive.append(source, entry)
  })
}
