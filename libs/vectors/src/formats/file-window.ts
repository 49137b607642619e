import { readSync } from 'node:fs'

/** Bytes that are read at a time. */
const WINDOW_BYTES = 1024 * 1024

/** Reads parts of an open file through a window, so that neighbouring parts cost one read of the disk. */
export class FileWindow {
  readonly fd: number
  /** bytes of the file when it was opened; later ones are not read */
  readonly size: number
  #window = Buffer.alloc(0)
  #at = 0

  constructor(fd: number, size: number) {
    this.fd = fd
    this.size = size
  }

  /** Returns bytes that are valid until the next call, or null if the file ends before them. */
  bytes(position: number, length: number): Buffer | null {
    const start = position - this.#at
    if (start >= 0 && start + length <= this.#window.length) return this.#window.subarray(start, start + length)
    if (position < 0 || position + length > this.size) return null
    const room = Math.min(this.size - position, Math.max(WINDOW_BYTES, length))
    // A caller may still hold the previous window.
    const window = Buffer.allocUnsafe(room)
    let done = 0
    while (done < room) {
      const read = readSync(this.fd, window, done, room - done, position + done)
      if (read === 0) break
      done += read
    }
    this.#window = window.subarray(0, done)
    this.#at = position
    return length <= done ? window.subarray(0, length) : null
  }
}
