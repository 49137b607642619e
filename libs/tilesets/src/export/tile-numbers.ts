import { CodedError, coded } from '@gateway/contracts/messages.js'
/** Maximum number of tiles in one export, each of which takes 8 bytes of memory until it is written. Slicing has the same limit. */
export const MAX_EXPORTED_TILES = 20_000_000

export function tooMany(): Error {
  return new CodedError(coded('export_too_many_tiles', { limit: MAX_EXPORTED_TILES }))
}

/** PMTiles tile numbers, collected in any order. */
export class TileNumbers {
  #numbers = new Float64Array(1024)
  #count = 0

  add(tileId: number): void {
    if (this.#count === MAX_EXPORTED_TILES) throw tooMany()
    if (this.#count === this.#numbers.length) {
      const grown = new Float64Array(this.#count * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.#count++] = tileId
  }

  /** Returns each number once, in ascending order. */
  sorted(): Float64Array {
    const sorted = this.#numbers.subarray(0, this.#count).sort()
    let kept = 0
    for (const tileId of sorted) if (kept === 0 || sorted[kept - 1] !== tileId) sorted[kept++] = tileId
    return sorted.subarray(0, kept)
  }
}
