import { below, gaussian, type Random } from './random.js'

/** Size of the random bytes from which bodies are cut: as incompressible as real tiles, and created once. */
const POOL_BYTES = 8 * 1024 * 1024
const MIN_TILE_BYTES = 1024
const MAX_TILE_BYTES = 60 * 1024
/** Mean of the normal distribution of a size's logarithm: with the limits above, sizes average about 15 KB. */
const LOG_MEAN = Math.log(11_500)
const LOG_DEVIATION = 0.75

/** The signature and header chunk of a PNG of 256 by 256 pixels, which a scan reads. The rest of a body is noise. */
const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000001000000010008060000005c72a866', 'hex')

/** Distinct bodies that look like PNG tiles. */
export class Bodies {
  readonly #random: Random
  readonly #pool: Buffer
  #made = 0

  constructor(random: Random) {
    this.#random = random
    this.#pool = Buffer.alloc(POOL_BYTES)
    for (let i = 0; i < POOL_BYTES; i += 4) this.#pool.writeUInt32LE(below(random, 2 ** 32), i)
  }

  tileSize(): number {
    for (;;) {
      const size = Math.round(Math.exp(LOG_MEAN + LOG_DEVIATION * gaussian(this.#random)))
      if (size >= MIN_TILE_BYTES && size <= MAX_TILE_BYTES) return size
    }
  }

  /** `length` bytes, at least 64. */
  body(length: number): Buffer {
    const start = below(this.#random, POOL_BYTES - length)
    const body = Buffer.from(this.#pool.subarray(start, start + length))
    PNG_HEAD.copy(body)
    body.writeUInt32LE(this.#made++, PNG_HEAD.length)
    return body
  }
}
