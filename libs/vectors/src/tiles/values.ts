import type { IndexField } from '../index-file/index-description.js'
import { ByteWriter } from './byte-writer.js'

/** Maximum number of different values of one field, and of all, that get an index. Later values are written each time that they occur. */
const MAX_KNOWN_OF_FIELD = 50_000
export const MAX_KNOWN_VALUES = 400_000

/** Index of a value without its own index. */
export const UNKNOWN = -1

type Cell = string | number | bigint | Uint8Array | null

/** Encodes attributes for vector tiles, each value as the message `Value` (Mapbox Vector Tile 2.1, section 4.1). */
export class Values {
  readonly #fields: readonly IndexField[]
  readonly #known: Map<Cell, number>[]
  readonly #writer = new ByteWriter(64 * 1024)
  #count = 0
  /** triples of the field's index, the value's index and the length of the value in bytes */
  readonly heads: number[] = []

  constructor(fields: readonly IndexField[]) {
    this.#fields = fields
    this.#known = fields.map(() => new Map())
  }

  /** Starts a feature, and reads its cells. Returns the concatenated bytes of its values, valid until the next call. */
  of(cells: readonly Cell[], first: number): Buffer {
    this.heads.length = 0
    this.#writer.length = 0
    for (let i = 0; i < this.#fields.length; i++) {
      const cell = cells[first + i] as Cell
      if (cell === null || cell === undefined) continue
      const before = this.#writer.length
      this.#write((this.#fields[i] as IndexField).type, cell)
      this.heads.push(i, this.#numberOf(i, cell), this.#writer.length - before)
    }
    return this.#writer.written()
  }

  #numberOf(field: number, cell: Cell): number {
    const known = this.#known[field] as Map<Cell, number>
    const number = known.get(cell)
    if (number !== undefined) return number
    if (known.size >= MAX_KNOWN_OF_FIELD || this.#count >= MAX_KNOWN_VALUES) return UNKNOWN
    known.set(cell, this.#count)
    return this.#count++
  }

  #write(type: IndexField['type'], cell: Cell): void {
    const pbf = this.#writer
    if (type === 'boolean') {
      pbf.varint((7 << 3) | 0)
      pbf.varint(Number(cell) === 0 ? 0 : 1)
    } else if (typeof cell !== 'number') {
      pbf.varint((1 << 3) | 2)
      pbf.text(String(cell))
    } else if (!Number.isSafeInteger(cell)) {
      pbf.varint((3 << 3) | 1)
      pbf.double(cell)
    } else if (cell < 0) {
      pbf.varint((6 << 3) | 0)
      pbf.varint(-2 * cell - 1)
    } else {
      pbf.varint((5 << 3) | 0)
      pbf.varint(cell)
    }
  }
}
