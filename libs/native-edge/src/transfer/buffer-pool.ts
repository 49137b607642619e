/**
 * Buffers for reads that are under way. A body holds one only between asking for a read and handing the bytes on, never while it
 * waits for its client: so a few serve any number of slow clients, and memory stays what it is.
 */
export const CHUNK_BYTES = 256 * 1024
/** More than the threads of libuv's pool (4) would only wait there. */
const MAX_BUFFERS = 8

export class BufferPool {
  readonly #most: number
  readonly #free: Buffer[] = []
  readonly #waiting: ((buffer: Buffer) => void)[] = []
  #made = 0

  constructor(most = MAX_BUFFERS) {
    this.#most = most
  }

  /** Calls back with a buffer, at once or when one is given back. */
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
