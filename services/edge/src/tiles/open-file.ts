import { SharedHandle } from '@gateway/core/files/shared-handle.js'
import type { FilePart } from '@gateway/tilesets/source.js'

/**
 * A part of an open file that is cached for later requests. It is released when it is retired and the last response has been sent.
 */
export class OpenFile {
  readonly #part: FilePart
  readonly #handle: SharedHandle

  constructor(part: FilePart) {
    this.#part = part
    this.#handle = new SharedHandle(part.release)
  }

  get length(): number {
    return this.#part.length
  }

  /** Returns the part for one response. Must not be called after `retire`. */
  acquire(): FilePart {
    return { ...this.#part, release: this.#handle.acquire() }
  }

  /** Must be called once, when there will be no new responses. */
  retire(): void {
    this.#handle.retire()
  }
}
