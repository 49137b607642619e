import { FIRST_WORDS, type TileRecords } from './tile-records.js'
import { merged, RunWriter } from './tile-runs.js'

/**
 * Sorts records by tile. Keeps up to `maxWords` in memory; beyond that it writes them to a file, and merges all files at the end. Records of a
 * tile stay in the order of insertion.
 */
export class TileSorter {
  readonly #folder: string
  readonly #maxWords: number
  readonly #runs: string[] = []
  readonly #slots = new Map<number, number>()
  #words: Int32Array
  #length = 0
  #heads: number[] = []
  #tails: number[] = []

  constructor(folder: string, maxWords: number) {
    this.#folder = folder
    this.#maxWords = maxWords
    this.#words = new Int32Array(Math.min(FIRST_WORDS, maxWords))
  }

  /** Adds a record of this many words; the caller writes it into `words` at the returned position. */
  add(tileId: number, size: number): number {
    // One more word before each record, for the position of the next record of the tile.
    const needed = this.#length + 1 + size
    if (needed > this.#words.length) this.#makeRoom(size + 1)
    const at = this.#length
    this.#words[at] = -1
    this.#length += 1 + size
    const slot = this.#slots.get(tileId)
    if (slot === undefined) {
      this.#slots.set(tileId, this.#heads.length)
      this.#heads.push(at)
      this.#tails.push(at)
    } else {
      this.#words[this.#tails[slot] as number] = at
      this.#tails[slot] = at
    }
    return at + 1
  }

  get words(): Int32Array {
    return this.#words
  }

  /** Yields all tiles in the order of their ids; each is valid until the next one. */
  *tiles(): Generator<TileRecords> {
    if (this.#runs.length === 0) {
      yield* this.#held()
      return
    }
    this.#spill()
    this.#words = new Int32Array(0)
    yield* merged(this.#runs, this.#maxWords)
  }

  #makeRoom(words: number): void {
    if (this.#length + words > this.#maxWords && this.#length > 0) this.#spill()
    if (this.#length + words <= this.#words.length) return
    const larger = new Int32Array(Math.max(words, Math.min(2 * this.#words.length, this.#maxWords)))
    larger.set(this.#words.subarray(0, this.#length))
    this.#words = larger
  }

  *#held(): Generator<TileRecords> {
    const words = this.#words
    const ids = Float64Array.from(this.#slots.keys()).sort()
    for (const tileId of ids) {
      const offsets: number[] = []
      for (let at = this.#heads[this.#slots.get(tileId) as number] as number; at >= 0; at = words[at] as number)
        offsets.push(at + 1)
      yield { tileId, words, offsets }
    }
  }

  #spill(): void {
    const file = `${this.#folder}/run-${this.#runs.length}`
    const output = new RunWriter(file)
    this.#runs.push(file)
    try {
      for (const tile of this.#held()) output.add(tile)
    } finally {
      output.close()
    }
    this.#slots.clear()
    this.#heads = []
    this.#tails = []
    this.#length = 0
  }
}
