export interface Sampling {
  /** Number of responses that count individually. */
  readonly exact: number
  /** Average interval at which one of the others counts. */
  readonly every: number
  /** Returns a number from 0 to 1; default: Math.random. */
  readonly random?: () => number
}

/**
 * Chooses the responses that count, like native/hot_tiles/sampled_tiles.h: the first ones all count once. Each later one counts with the same
 * probability, independently of the others, and then represents `every` responses. No pattern of requests is preferred, and sums are right on
 * average.
 */
export class Sampler {
  readonly #sampling: Required<Sampling>
  #left: number
  #gap: number

  constructor({ exact, every, random = Math.random }: Sampling) {
    this.#sampling = { exact, every, random }
    this.#left = exact
    this.#gap = this.#nextGap()
  }

  /** Returns how many responses the next one represents; 0 if it does not count. */
  weigh(): number {
    if (this.#left > 0) {
      this.#left--
      return 1
    }
    if (--this.#gap > 0) return 0
    this.#gap = this.#nextGap()
    return this.#sampling.every
  }

  beginAnew(): void {
    this.#left = this.#sampling.exact
  }

  /** Returns a geometrically distributed number, from 1. */
  #nextGap(): number {
    const { every, random } = this.#sampling
    return every === 1 ? 1 : 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / every))
  }
}
