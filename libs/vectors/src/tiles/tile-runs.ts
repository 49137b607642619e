import fs from 'node:fs'
import { FIRST_WORDS, SIZE_AT, type TileRecords } from './tile-records.js'

const GATHERED_WORDS = 1024 * 1024

/** Writes tiles as [id (double), records, words] and the records. */
export class RunWriter {
  readonly #fd: number
  readonly #gathered = new Int32Array(GATHERED_WORDS)
  #length = 0

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'wx')
  }

  add({ tileId, words, offsets }: TileRecords): void {
    const size = offsets.reduce((sum, at) => sum + (words[at] as number), 0)
    const head = new Int32Array(4)
    new Float64Array(head.buffer)[0] = tileId
    head[2] = offsets.length
    head[3] = size
    this.#put(head)
    for (const at of offsets) this.#put(words.subarray(at, at + (words[at] as number)))
  }

  close(): void {
    try {
      this.#flush()
    } finally {
      fs.closeSync(this.#fd)
    }
  }

  #put(words: Int32Array): void {
    if (this.#length + words.length > GATHERED_WORDS) this.#flush()
    if (words.length > GATHERED_WORDS) write(this.#fd, words)
    else {
      this.#gathered.set(words, this.#length)
      this.#length += words.length
    }
  }

  #flush(): void {
    write(this.#fd, this.#gathered.subarray(0, this.#length))
    this.#length = 0
  }
}

function write(fd: number, words: Int32Array): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done)
}

/** Reads a run tile by tile. */
class Run {
  readonly #fd: number
  readonly #head = new Int32Array(4)
  readonly #number = new Float64Array(this.#head.buffer, 0, 1)
  /** the id of the next tile; infinity after the last one */
  tileId = 0

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'r')
    // The kernel frees the file when it is closed, even if this process is killed.
    fs.unlinkSync(file)
    this.#advance()
  }

  get size(): number {
    return this.#head[3] as number
  }

  /** Copies the records of the tile, and moves to the next tile. */
  take(words: Int32Array, at: number): void {
    readFully(this.#fd, words.subarray(at, at + this.size))
    this.#advance()
  }

  close(): void {
    fs.closeSync(this.#fd)
  }

  #advance(): void {
    this.tileId = readFully(this.#fd, this.#head) ? (this.#number[0] as number) : Number.POSITIVE_INFINITY
  }
}

function readFully(fd: number, words: Int32Array): boolean {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
  for (let done = 0; done < bytes.length; ) {
    const count = fs.readSync(fd, bytes, done, bytes.length - done, null)
    if (count === 0) return false
    done += count
  }
  return true
}

/** Yields the tiles of all runs in the order of their ids. */
export function* merged(files: readonly string[], maxWords: number): Generator<TileRecords> {
  const runs = files.map((file) => new Run(file))
  let words = new Int32Array(FIRST_WORDS)
  try {
    for (;;) {
      const tileId = Math.min(...runs.map((run) => run.tileId))
      if (tileId === Number.POSITIVE_INFINITY) return
      let length = 0
      for (const run of runs) {
        if (run.tileId !== tileId) continue
        if (length > 0 && length + run.size > maxWords) length = largest(words, length, Math.floor(maxWords / 2))
        if (length + run.size > words.length) {
          const larger = new Int32Array(Math.max(length + run.size, Math.min(2 * words.length, maxWords)))
          larger.set(words.subarray(0, length))
          words = larger
        }
        length += run.size
        run.take(words, length - run.size)
      }
      yield { tileId, words, offsets: offsetsOf(words, length) }
    }
  } finally {
    for (const run of runs) run.close()
  }
}

function offsetsOf(words: Int32Array, length: number): number[] {
  const offsets: number[] = []
  for (let at = 0; at < length; at += words[at] as number) offsets.push(at)
  return offsets
}

/** Keeps the largest features up to this number of words, since a tile cannot show more. */
function largest(words: Int32Array, length: number, limit: number): number {
  const sizes = new Float32Array(words.buffer)
  const offsets = offsetsOf(words, length)
  const ordered = [...offsets].sort((a, b) => (sizes[b + SIZE_AT] as number) - (sizes[a + SIZE_AT] as number))
  let total = 0
  const kept = new Set<number>()
  for (const at of ordered) {
    total += words[at] as number
    if (total > limit) break
    kept.add(at)
  }
  let end = 0
  for (const at of offsets) {
    const size = words[at] as number
    if (!kept.has(at)) continue
    words.copyWithin(end, at, at + size)
    end += size
  }
  return end
}
