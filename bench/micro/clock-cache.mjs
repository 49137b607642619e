/** A cache bounded by bytes: a plain Map, and a hand that goes round its entries in the order of their coming and takes what was not used. */
export class ClockCache {
  #entries = new Map()
  /** Kept over calls: one that began anew each time would step over all that was deleted before it. */
  #hand = this.#entries.entries()
  #maxBytes
  #sizeOf
  #bytes = 0

  constructor(maxBytes, sizeOf) {
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
  }

  get(key) {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(key, value) {
    this.delete(key)
    const size = this.#sizeOf(value)
    if (size > this.#maxBytes) return
    this.#makeRoom(size)
    this.#entries.set(key, { value, size, used: false })
    this.#bytes += size
  }

  delete(key) {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.size
  }

  #makeRoom(size) {
    while (this.#bytes + size > this.#maxBytes) {
      const next = this.#hand.next()
      if (next.done) {
        this.#hand = this.#entries.entries()
        continue
      }
      // An entry that was used loses its mark and goes behind the others: the hand comes by again.
      const [key, entry] = next.value
      this.#entries.delete(key)
      if (entry.used) {
        entry.used = false
        this.#entries.set(key, entry)
      } else {
        this.#bytes -= entry.size
      }
    }
  }
}
