import { SharedHandle } from '@gateway/core/files/shared-handle.js'
import type { FilePart } from '@gateway/tilesets/source.js'

/** A part of an open file that is kept for the next requests, and released when it is retired and the last answer has been sent. */
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

  /** For one answer. Not after `retire`. */
  acquire(): FilePart {
    return { ...this.#part, release: this.#handle.acquire() }
  }

  /** There will be no new answers. To be called once. */
  retire(): void {
    this.#handle.retire()
  }
}
