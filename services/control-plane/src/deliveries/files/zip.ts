import type { Bundle, BundleFile } from './bundle.js'
import { partOf } from './part.js'
import { mostDirectoryBytes, ZipDirectory } from './zip-directory.js'

/**
 * Files packed by one archiver. It keeps half a kilobyte for each until its end, and then writes its directory in one go. So few that what
 * it keeps is garbage before V8 moves it to where only a full collection finds it.
 */
const PART_FILES = 100

/**
 * The bundle as a zip, in blocks as `partOf` makes them, in little memory and in short turns however many files there are: archiver makes
 * a zip of each hundred, and their contents follow one another, with one directory for all of them at the end.
 */
export async function* zipOf(bundle: Bundle): AsyncGenerator<Buffer> {
  const directory = new ZipDirectory()
  let offset = 0
  for await (const files of inParts(bundle.files())) {
    const start = offset
    const held = new HeldEnd(mostDirectoryBytes(files.map(({ name }) => name)))
    for await (const block of partOf(bundle, files)) {
      for (const content of held.add(block)) {
        offset += content.length
        yield content
      }
    }
    const rest = directory.take(held.all(), start)
    offset += rest.length
    if (rest.length > 0) yield rest
  }
  yield* directory.blocks(offset)
}

async function* inParts(files: AsyncIterable<BundleFile>): AsyncGenerator<BundleFile[]> {
  let part: BundleFile[] = []
  for await (const file of files) {
    part.push(file)
    if (part.length < PART_FILES) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/** The last blocks of a stream, so many that they hold its last `bytes`. */
class HeldEnd {
  readonly #bytes: number
  readonly #blocks: Buffer[] = []
  #length = 0

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Answers the blocks that are not held any longer. */
  *add(block: Buffer): Generator<Buffer> {
    this.#blocks.push(block)
    this.#length += block.length
    for (let first = this.#blocks[0]; first !== undefined; first = this.#blocks[0]) {
      if (this.#length - first.length < this.#bytes) return
      this.#blocks.shift()
      this.#length -= first.length
      yield first
    }
  }

  all(): Buffer {
    return Buffer.concat(this.#blocks)
  }
}
