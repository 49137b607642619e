/** Kinds of geometries in Well-Known Binary. */
export const POINT = 1
export const LINE = 2
export const POLYGON = 3
export const MULTI_POINT = 4
export const MULTI_LINE = 5
export const MULTI_POLYGON = 6
export const COLLECTION = 7

/** Number of a kind with its further dimensions, as ISO 13249 numbers them. */
export function wkbCode(kind: number, hasZ: boolean, hasM: boolean): number {
  return kind + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0)
}

/** Writes Well-Known Binary into a buffer that grows and is used again for the next geometry. */
export class WkbWriter {
  #bytes = new Uint8Array(64 * 1024)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  begin(): void {
    this.#at = 0
  }

  /** Returns the written geometry, which is valid until the next one begins. */
  end(): Uint8Array {
    return this.#bytes.subarray(0, this.#at)
  }

  head(code: number): void {
    this.#ensure(5)
    this.#bytes[this.#at] = 1
    this.#view.setUint32(this.#at + 1, code, true)
    this.#at += 5
  }

  /** Writes a number of parts or positions. Returns its place for `setCount`. */
  count(count: number): number {
    this.#ensure(4)
    this.#view.setUint32(this.#at, count, true)
    this.#at += 4
    return this.#at - 4
  }

  setCount(place: number, count: number): void {
    this.#view.setUint32(place, count, true)
  }

  number(value: number): void {
    if (this.#at + 8 > this.#bytes.length) this.#ensure(8)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
  }

  pair(x: number, y: number): void {
    if (this.#at + 16 > this.#bytes.length) this.#ensure(16)
    this.#view.setFloat64(this.#at, x, true)
    this.#view.setFloat64(this.#at + 8, y, true)
    this.#at += 16
  }

  raw(bytes: Uint8Array): void {
    this.#ensure(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #ensure(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const longer = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + more))
    longer.set(this.#bytes)
    this.#bytes = longer
    this.#view = new DataView(longer.buffer)
  }
}
