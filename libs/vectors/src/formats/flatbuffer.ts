/**
 * Reads a table of a FlatBuffer (https://flatbuffers.dev/internals), field by field. The official runtime trusts every offset. Here an offset
 * outside of the buffer throws a RangeError, and every length is checked before its use.
 */
export class FlatTable {
  readonly #buffer: Buffer
  readonly #at: number

  private constructor(buffer: Buffer, at: number) {
    this.#buffer = buffer
    this.#at = at
  }

  static root(buffer: Buffer): FlatTable {
    return new FlatTable(buffer, buffer.readUInt32LE(0))
  }

  byte(field: number): number {
    const at = this.#position(field)
    return at === null ? 0 : this.#buffer.readUInt8(at)
  }

  short(field: number, otherwise: number): number {
    const at = this.#position(field)
    return at === null ? otherwise : this.#buffer.readUInt16LE(at)
  }

  int(field: number): number {
    const at = this.#position(field)
    return at === null ? 0 : this.#buffer.readInt32LE(at)
  }

  long(field: number): bigint {
    const at = this.#position(field)
    return at === null ? 0n : this.#buffer.readBigUInt64LE(at)
  }

  table(field: number): FlatTable | null {
    const at = this.#target(field)
    return at === null ? null : new FlatTable(this.#buffer, at)
  }

  text(field: number): string | null {
    const list = this.#list(field, 1)
    return list && this.#buffer.toString('utf8', list.at, list.at + list.length)
  }

  doubles(field: number): number[] | null {
    const list = this.#list(field, 8)
    return list && Array.from({ length: list.length }, (_, i) => this.#buffer.readDoubleLE(list.at + i * 8))
  }

  tables(field: number): FlatTable[] | null {
    const list = this.#list(field, 4)
    if (list === null) return null
    return Array.from({ length: list.length }, (_, i) => {
      const at = list.at + i * 4
      return new FlatTable(this.#buffer, at + this.#buffer.readUInt32LE(at))
    })
  }

  /** Returns the bytes of a list, without a copy; null for an omitted one. @param size bytes of one element */
  bytes(field: number, size: number): Buffer | null {
    const list = this.#list(field, size)
    return list && this.#buffer.subarray(list.at, list.at + list.length * size)
  }

  /** Returns null for an omitted field, which has its default value. */
  #position(field: number): number | null {
    const fields = this.#at - this.#buffer.readInt32LE(this.#at)
    const entry = 4 + field * 2
    if (entry >= this.#buffer.readUInt16LE(fields)) return null
    const offset = this.#buffer.readUInt16LE(fields + entry)
    return offset === 0 ? null : this.#at + offset
  }

  #target(field: number): number | null {
    const at = this.#position(field)
    return at === null ? null : at + this.#buffer.readUInt32LE(at)
  }

  /** @param bytes size of one element */
  #list(field: number, bytes: number): { readonly at: number; readonly length: number } | null {
    const at = this.#target(field)
    if (at === null) return null
    const length = this.#buffer.readUInt32LE(at)
    if (at + 4 + length * bytes > this.#buffer.length) throw new RangeError('a list leads out of the buffer')
    return { at: at + 4, length }
  }
}
