import type { FilePart } from './load-tile.js'

/** A part of an open file that is kept for the next requests. It is given back when it is dropped and nobody sends from it any more. */
export class OpenFile {
  readonly #part: FilePart
  #holders = 1

  constructor(part: FilePart) {
    this.#part = part
  }

  get length(): number {
    return this.#part.length
  }

  /** For one answer; `release` is to be called once. Not after `drop`. */
  hold(): FilePart {
    this.#holders++
    let held = true
    const release = (): void => {
      if (held) this.#letGo()
      held = false
    }
    const { fd, offset, length, remote } = this.#part
    return { fd, offset, length, remote, release }
  }

  /** Nobody will ask for it any more. To be called once. */
  drop(): void {
    this.#letGo()
  }

  #letGo(): void {
    this.#holders--
    if (this.#holders === 0) this.#part.release()
  }
}
