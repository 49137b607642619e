export interface Sampling {
  /** how many count one by one */
  readonly exact: number
  /** one in so many of the others counts, on average */
  readonly every: number
  /** from 0 to 1; default: Math.random */
  readonly random?: () => number
}

/**
 * Which answers count, as native/hot_tiles/sampled_tiles.h says: the first ones all for one, of the later ones each with the same probability, independent of
 * the others, for as many as it stands for. No pattern of requests is preferred, and sums are right on average.
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

  /** For how many the next answer counts; 0: it does not. */
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

  /** Geometrically distributed, from 1. */
  #nextGap(): number {
    const { every, random } = this.#sampling
    return every === 1 ? 1 : 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / every))
  }
}
