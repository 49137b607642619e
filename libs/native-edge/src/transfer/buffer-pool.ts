/**
 * Buffers for reads in progress. A body holds a buffer only from the request for a read until the bytes are handed on, never
 * while it waits for its client. So a few buffers serve any number of slow clients, and memory stays constant.
 */
export const CHUNK_BYTES = 256 * 1024
/** Limit: further reads would only wait for the 4 threads of libuv's pool. */
const MAX_BUFFERS = 8

export class BufferPool {
  readonly #most: number
  readonly #free: Buffer[] = []
  readonly #waiting: ((buffer: Buffer) => void)[] = []
  #made = 0

  constructor(most = MAX_BUFFERS) {
    this.#most = most
  }

  /** Calls back with a buffer, at once or when another body gives one back. */
  take(callback: (buffer: Buffer) => void): void {
    const buffer = this.#free.pop()
    if (buffer) callback(buffer)
    else if (this.#made < this.#most) {
      this.#made++
      callback(Buffer.allocUnsafeSlow(CHUNK_BYTES))
    } else this.#waiting.push(callback)
  }

  giveBack(buffer: Buffer): void {
    const next = this.#waiting.shift()
    if (next) next(buffer)
    else this.#free.push(buffer)
  }
}
