import { Readable } from 'node:stream'
import { ZipArchive } from 'archiver'
import type { Bundle } from './bundle.js'
import { CHUNK_BYTES, chunksOf, contentOf, openSource } from './open-source.js'

/** zlib's own default; more makes map data hardly smaller. */
const LEVEL = 6
const FILE_MODE = 0o644

/** Produced ahead of the receiver at most: archiver itself would read the whole bundle into memory. */
const MAX_AHEAD_BYTES = 1024 * 1024

/**
 * The bundle as a zip, produced as fast as it is consumed, in even chunks. The same files give the same bytes: order, dates and modes come
 * from them alone. Throws where a file cannot be read. Ending the iteration early closes what is open.
 */
export async function* zipOf(bundle: Bundle): AsyncGenerator<Buffer> {
  const archive = new ZipArchive({ store: !bundle.compressible, zlib: { level: LEVEL }, highWaterMark: CHUNK_BYTES })
  const pace = new Pace()
  const feeding = feed(archive, bundle, pace).catch((error) => archive.destroy(error))
  try {
    for await (const chunk of evenChunks(archive)) {
      pace.took(chunk.length)
      yield chunk
    }
  } finally {
    pace.end()
    archive.destroy()
    await feeding
  }
}

/** How far production may run ahead of consumption. */
class Pace {
  #taken = 0
  #ended = false
  #resume: () => void = () => {}

  took(bytes: number): void {
    this.#taken += bytes
    this.#resume()
  }

  end(): void {
    this.#ended = true
    this.#resume()
  }

  /** Waits until no more than the limit is waiting to be consumed; throws once nobody will consume it. */
  async wait(produced: () => number): Promise<void> {
    while (!this.#ended && produced() - this.#taken > MAX_AHEAD_BYTES) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve
      })
    }
    if (this.#ended) throw new Error('the archive is not wanted any more')
  }
}

async function feed(archive: ZipArchive, bundle: Bundle, pace: Pace): Promise<void> {
  for await (const file of bundle.files()) {
    await pace.wait(() => archive.pointer())
    const opened = await openSource(bundle, file)
    const entry = { name: file.name, date: new Date(opened.mtimeMs), mode: FILE_MODE }
    // Most tiles are small, and a stream for each would cost more than their bytes.
    if (opened.size <= CHUNK_BYTES) await appended(archive, await contentOf(file.name, opened), entry)
    else await appended(archive, Readable.from(chunksOf(file.name, opened), { objectMode: false }), entry)
  }
  await archive.finalize()
}

function appended(archive: ZipArchive, source: Readable | Buffer, entry: { name: string; date: Date; mode: number }) {
  return new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => {
      archive.off('entry', done).off('close', closed)
      if (error === undefined) resolve()
      else reject(error)
      if (source instanceof Readable && error !== undefined) source.destroy()
    }
    const done = () => settle()
    const closed = () => settle(new Error('the archive is not wanted any more'))
    archive.once('entry', done).once('close', closed)
    if (source instanceof Readable) source.once('error', settle)
    archive.append(source, entry)
  })
}

/** archiver writes a zip in many pieces of a few bytes; sent as they are, each would be a packet of its own. */
async function* evenChunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    waiting.push(chunk)
    size += chunk.length
    if (size < CHUNK_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}
