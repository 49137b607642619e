import type { VectorField } from '@gateway/contracts/vector.js'
import type { FieldType, SourceField, SourceValue } from './feature.js'
import { catalogType } from './feature.js'
import type { FileWindow } from './file-window.js'
import { wholeNumber } from './json-values.js'
import { MAX_FIELDS } from './limits.js'

const HEADER_BYTES = 32
const TERMINATOR = 0x0d
const BLANK = 0x20
const DELETED = 0x2a
/** Digits of a whole number that always fits in 64 bits. */
const SAFE_DIGITS = 18

/** Bytes that suffice for the header of `MAX_FIELDS` fields. */
export const DBF_HEAD_BYTES = HEADER_BYTES + 32 * (MAX_FIELDS + 1)

/** A column of a dBASE table. */
interface Column {
  /** its bytes, in ISO 8859-1 */
  readonly name: string
  readonly dbfType: string
  readonly offset: number
  readonly length: number
  readonly decimals: number
}

/** The content of a dBASE table's header. */
export interface DbfHeader {
  readonly records: number
  readonly languageDriver: number
  readonly headerBytes: number
  readonly recordBytes: number
  /** null: damaged, or the bytes end before the end of the header */
  readonly columns: readonly Column[] | null
}

/** Returns null for another content. */
export function readDbfHeader(head: Buffer | null): DbfHeader | null {
  if (head === null || head.length < HEADER_BYTES) return null
  return {
    records: head.readUInt32LE(4),
    languageDriver: head.readUInt8(29),
    headerBytes: head.readUInt16LE(8),
    recordBytes: head.readUInt16LE(10),
    columns: readColumns(head),
  }
}

function readColumns(head: Buffer): Column[] | null {
  const columns: Column[] = []
  // The first byte of a record marks deleted ones.
  let offset = 1
  for (let at = HEADER_BYTES; at < head.length; at += 32) {
    if (head[at] === TERMINATOR) return columns
    if (at + 32 > head.length) return null
    const name = head.subarray(at, at + 11)
    const end = name.indexOf(0)
    const dbfType = String.fromCharCode(head[at + 11] as number)
    // A text may be longer than 255 bytes: the byte of the decimals is the higher one then.
    const decimals = dbfType === 'C' ? 0 : (head[at + 17] as number)
    const length = (head[at + 16] as number) + (dbfType === 'C' ? (head[at + 17] as number) * 256 : 0)
    columns.push({ name: name.toString('latin1', 0, end < 0 ? undefined : end), dbfType, offset, length, decimals })
    offset += length
  }
  return null
}

/** The fields for the catalog; names are bytes in ISO 8859-1. Returns null if there are too many. */
export function catalogFields({ columns }: DbfHeader): VectorField[] | null {
  if (columns === null || columns.length > MAX_FIELDS) return null
  return columns.map((column) => ({ name: column.name, type: catalogType(typeOf(column)) }))
}

function typeOf({ dbfType, length, decimals }: Column): FieldType {
  switch (dbfType) {
    case 'N':
    case 'F':
      return decimals === 0 && length <= SAFE_DIGITS ? 'integer' : 'number'
    case 'I':
    case '+':
      return 'integer'
    case 'O':
    case 'B':
      return 'number'
    case 'L':
      return 'boolean'
    case 'D':
      return 'date'
    case 'T':
    case '@':
      return 'datetime'
    default:
      return 'string'
  }
}

/** The rows of a dBASE table. */
export class DbfTable {
  readonly fields: readonly SourceField[]
  readonly records: number
  readonly #columns: readonly Column[]
  readonly #header: DbfHeader
  readonly #file: FileWindow
  readonly #decode: (bytes: Buffer) => string

  private constructor(file: FileWindow, header: DbfHeader, decode: (bytes: Buffer) => string) {
    this.#file = file
    this.#header = header
    this.#decode = decode
    this.#columns = header.columns ?? []
    // Programs write more records into the header than they append, and fewer.
    const room = header.recordBytes === 0 ? 0 : Math.floor((file.size - header.headerBytes) / header.recordBytes)
    this.records = Math.max(0, Math.min(header.records, room))
    this.fields = this.#columns.map((column) => ({
      name: decode(Buffer.from(column.name, 'latin1')),
      type: this.#exactType(column),
    }))
  }

  /** Returns null if the table is damaged. @param decode of texts and names */
  static open(file: FileWindow, decode: (bytes: Buffer) => string): DbfTable | null {
    const size = file.bytes(8, 2)?.readUInt16LE(0) ?? 0
    const header = readDbfHeader(file.bytes(0, Math.min(file.size, Math.max(size, HEADER_BYTES))))
    return header === null || header.columns === null ? null : new DbfTable(file, header, decode)
  }

  /** Long columns of whole numbers hold what 64 bits do not: the values decide. */
  #exactType(column: Column): FieldType {
    const isLong =
      (column.dbfType === 'N' || column.dbfType === 'F') && column.decimals === 0 && column.length > SAFE_DIGITS
    if (!isLong) return typeOf(column)
    for (let row = 0; row < this.records; row++) {
      const text = this.#text(this.#record(row), column)
      if (text !== '' && !text.startsWith('*') && wholeNumber(text) === null) return 'number'
    }
    return 'integer'
  }

  /** Returns the values of a row, from 0; all null behind the last row. Returns undefined for a deleted row. */
  row(index: number): readonly SourceValue[] | undefined {
    const record = this.#record(index)
    if (record?.[0] === DELETED) return undefined
    return this.#columns.map((column) => this.#value(record, column))
  }

  #record(index: number): Buffer | null {
    if (index >= this.records) return null
    return this.#file.bytes(this.#header.headerBytes + index * this.#header.recordBytes, this.#header.recordBytes)
  }

  #text(record: Buffer | null, { offset, length }: Column): string {
    return record === null
      ? ''
      : record
          .toString('latin1', offset, offset + length)
          .replaceAll('\0', ' ')
          .trim()
  }

  #value(record: Buffer | null, column: Column): SourceValue {
    if (record === null) return null
    const { dbfType, offset, length } = column
    switch (dbfType) {
      case 'N':
      case 'F': {
        const text = this.#text(record, column)
        // Stars stand for a number that was too long.
        if (text === '' || text.startsWith('*')) return null
        const number = wholeNumber(text) ?? Number(text)
        return typeof number === 'number' && Number.isNaN(number) ? null : number
      }
      case 'I':
      case '+':
        return length < 4 ? null : record.readInt32LE(offset)
      case 'O':
      case 'B':
        return length < 8 ? null : record.readDoubleLE(offset)
      case 'L': {
        const text = this.#text(record, column)
        return /^[TtYy1]/.test(text) ? 1 : /^[FfNn0]/.test(text) ? 0 : null
      }
      case 'D': {
        const text = this.#text(record, column)
        return /^\d{8}$/.test(text) && text !== '00000000'
          ? `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
          : null
      }
      case 'T':
      case '@':
        return length < 8 ? null : instantOf(record.readInt32LE(offset), record.readInt32LE(offset + 4))
      default:
        return this.#string(record, offset, offset + length)
    }
  }

  /** Blanks fill up a text, so an empty one and an absent one are the same. */
  #string(record: Buffer, start: number, end: number): string | null {
    let to = Math.min(end, record.length)
    while (to > start && ((record[to - 1] as number) === BLANK || record[to - 1] === 0)) to--
    return to === start ? null : this.#decode(record.subarray(start, to))
  }
}

/** The day of 1970-01-01 in the count of Julian days. */
const EPOCH_DAY = 2_440_588
const DAY_MS = 86_400_000

/** Returns a local time; null without one. @param day in the count of Julian days */
function instantOf(day: number, milliseconds: number): string | null {
  const time = new Date((day - EPOCH_DAY) * DAY_MS + milliseconds)
  return day <= 0 || Number.isNaN(time.getTime()) ? null : time.toISOString().replace(/(?:\.000)?Z$/, '')
}
