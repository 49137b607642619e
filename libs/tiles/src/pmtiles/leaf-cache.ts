import { type Directory, directoryBytes } from './directory.js'

/** Limit: memory for decoded leaf directories of one archive, some 600,000 entries. */
const MAX_BYTES = 16 * 1024 * 1024

/** The leaf directories used last, by their offset. A Map keeps the order of insertion: the first entry is the one unused longest. */
export class LeafCache {
  readonly #leaves = new Map<number, Directory>()
  #bytes = 0

  get(offset: number): Directory | undefined {
    const leaf = this.#leaves.get(offset)
    if (leaf !== undefined) {
      this.#leaves.delete(offset)
      this.#leaves.set(offset, leaf)
    }
    return leaf
  }

  set(offset: number, leaf: Directory): void {
    this.#leaves.set(offset, leaf)
    this.#bytes += directoryBytes(leaf)
    for (const [oldest, directory] of this.#leaves) {
      if (this.#bytes <= MAX_BYTES || oldest === offset) break
      this.#leaves.delete(oldest)
      this.#bytes -= directoryBytes(directory)
    }
  }
}
