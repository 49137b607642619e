import fs from 'node:fs'

/**
 * All features of an index as flat records in one file, in the order of the index. Each zoom reads it once sequentially, which takes a tenth
 * of the time of reading the index. A record is 8-byte aligned, in the byte order of this machine:
 * 32-bit integers [words of the record, fid, layer, kind, parts, words of attributes], id, box (doubles; NaN without an id),
 * the attributes [count, then for each: field, value, bytes] with their bytes, and each part [type, points] with its points (doubles).
 * Positions are fractions of the side of the world, from its north-western corner.
 */
export const FEATURE_FILE = '.features'

const HEAD_WORDS = 6
export const ID_AT = 3
export const BOX_AT = 4
/** words before the attributes */
export const FIXED_WORDS = HEAD_WORDS + 2 * 5

export const PART_POINTS = 1
export const PART_LINE = 2
export const PART_RING = 3

const WRITE_WORDS = 1024 * 1024
const READ_BYTES = 8 * 1024 * 1024

export interface FeatureHead {
  readonly fid: number
  readonly layer: number
  readonly kind: number
  /** null: no id */
  readonly id: number | null
  readonly box: readonly [number, number, number, number]
}

export class FeatureFileWriter {
  readonly #fd: number
  #words = new Int32Array(WRITE_WORDS)
  #doubles = new Float64Array(this.#words.buffer)
  #length = 0

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'wx')
  }

  /** @param heads of the attributes @param parts alternately a type and its points */
  add(
    head: FeatureHead,
    heads: readonly number[],
    values: Uint8Array,
    parts: readonly (readonly [number, Float64Array])[],
  ): void {
    const tagWords = even(1 + heads.length + Math.ceil(values.length / 4))
    let size = FIXED_WORDS + tagWords
    for (const [, points] of parts) size += 2 + 2 * points.length
    this.#reserve(size)
    const words = this.#words
    const at = this.#length
    words.set([size, head.fid, head.layer, head.kind, parts.length, tagWords], at)
    this.#doubles[at / 2 + ID_AT] = head.id ?? Number.NaN
    this.#doubles.set(head.box, at / 2 + BOX_AT)
    words[at + FIXED_WORDS] = heads.length / 3
    words.set(heads, at + FIXED_WORDS + 1)
    new Uint8Array(words.buffer).set(values, 4 * (at + FIXED_WORDS + 1 + heads.length))
    let next = at + FIXED_WORDS + tagWords
    for (const [type, points] of parts) {
      words[next] = type
      words[next + 1] = points.length / 2
      this.#doubles.set(points, next / 2 + 1)
      next += 2 + 2 * points.length
    }
    this.#length = next
  }

  close(): void {
    try {
      this.#flush()
    } finally {
      fs.closeSync(this.#fd)
    }
  }

  #reserve(words: number): void {
    if (this.#length + words <= this.#words.length) return
    this.#flush()
    if (words <= this.#words.length) return
    this.#words = new Int32Array(even(2 * words))
    this.#doubles = new Float64Array(this.#words.buffer)
  }

  #flush(): void {
    const bytes = new Uint8Array(this.#words.buffer, 0, 4 * this.#length)
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(this.#fd, bytes, done)
    this.#length = 0
  }
}

function even(count: number): number {
  return count + (count & 1)
}

/** Reads a file of features sequentially. `words` and `doubles` hold the current record, starting at `at`. */
export class FeatureFileReader {
  readonly #fd: number
  words = new Int32Array(READ_BYTES / 4)
  doubles = new Float64Array(this.words.buffer)
  at = 0
  #end = 0
  #next = 0

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'r')
  }

  /** Moves to the next record. Returns false at the end. */
  next(): boolean {
    this.at = this.#next
    if (this.at + 2 > this.#end && !this.#fill(2)) return false
    const size = this.words[this.at] as number
    if (this.at + size > this.#end && !this.#fill(size)) throw new Error('the file of features is cut off')
    this.#next = this.at + size
    return true
  }

  close(): void {
    fs.closeSync(this.#fd)
  }

  /** Moves the remaining bytes to the front, and reads until the record is complete. */
  #fill(size: number): boolean {
    const rest = this.words.subarray(this.at, this.#end)
    if (size > this.words.length) {
      const larger = new Int32Array(size + READ_BYTES / 4)
      larger.set(rest)
      this.words = larger
      this.doubles = new Float64Array(larger.buffer)
    } else this.words.copyWithin(0, this.at, this.#end)
    this.at = 0
    this.#end = rest.length
    while (this.#end < size) {
      const bytes = fs.readSync(this.#fd, this.words, 4 * this.#end, 4 * (this.words.length - this.#end), null)
      if (bytes === 0) return false
      // A record is written as a whole number of words, but a read may end within a word.
      let whole = bytes
      while (whole % 8 !== 0) {
        const more = fs.readSync(this.#fd, this.words, 4 * this.#end + whole, 8 - (whole % 8), null)
        if (more === 0) return false
        whole += more
      }
      this.#end += whole / 4
    }
    return true
  }
}
