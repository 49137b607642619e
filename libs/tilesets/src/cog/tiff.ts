import { BrokenArchiveError } from '../broken-archive.js'
import type { FileSection } from '../ranges/source.js'

/** Limits: image directories of a file, entries of a directory, and bytes of a value that is read completely (keys, tables). */
const MAX_DIRECTORIES = 64
const MAX_ENTRIES = 512
const MAX_VALUE_BYTES = 64 * 1024

/** Sizes in bytes of each type (TIFF 6.0, section 2; BigTIFF adds 16 to 18). */
const SIZES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
}

/** The location of a value of an image directory, not the value itself. */
export interface Field {
  readonly type: number
  readonly count: number
  /** offset of the first value in the file */
  readonly offset: number
}

export interface Tiff {
  readonly isLittle: boolean
  readonly directories: readonly ReadonlyMap<number, Field>[]
}

export type Reads<T> = Generator<FileSection, T, Uint8Array | null>

/** Reads the image directories of a TIFF or BigTIFF, without their values. Throws `BrokenArchiveError`. */
export function* readTiff(path: string, size: number): Reads<Tiff> {
  const head = yield* bytesAt(path, 0, Math.min(16, size))
  const order = head.toString('latin1', 0, 2)
  if (head.length < 8 || (order !== 'II' && order !== 'MM')) throw new BrokenArchiveError('it is not a TIFF file')
  const isLittle = order === 'II'
  const magic = unsigned(head, 2, 2, isLittle)
  const isBig = magic === 43
  if (magic !== 42 && !isBig) throw new BrokenArchiveError('it is not a TIFF file')
  const wide = isBig ? 8 : 4
  if (isBig && head.length < 16) throw new BrokenArchiveError('it is not a TIFF file')
  let at = unsigned(head, isBig ? 8 : 4, wide, isLittle)
  const directories: Map<number, Field>[] = []
  const seen = new Set<number>()
  while (at !== 0) {
    if (directories.length >= MAX_DIRECTORIES || seen.has(at))
      throw new BrokenArchiveError('it has too many image directories')
    seen.add(at)
    const countBytes = isBig ? 8 : 2
    const count = unsigned(yield* bytesAt(path, at, countBytes), 0, countBytes, isLittle)
    if (count > MAX_ENTRIES) throw new BrokenArchiveError('an image directory has more entries than allowed')
    const entryBytes = isBig ? 20 : 12
    const table = yield* bytesAt(path, at + countBytes, count * entryBytes + wide)
    const fields = new Map<number, Field>()
    for (let i = 0; i < count; i++) {
      const entry = i * entryBytes
      const type = unsigned(table, entry + 2, 2, isLittle)
      const values = unsigned(table, entry + 4, wide, isLittle)
      const isInside = (SIZES[type] ?? 1) * values <= wide
      const own = at + countBytes + entry + 4 + wide
      const offset = isInside ? own : unsigned(table, entry + 4 + wide, wide, isLittle)
      fields.set(unsigned(table, entry, 2, isLittle), { type, count: values, offset })
    }
    directories.push(fields)
    at = unsigned(table, count * entryBytes, wide, isLittle)
  }
  return { isLittle, directories }
}

/** Reads one integer of a field. */
export function* numberAt(
  path: string,
  { type, count, offset }: Field,
  index: number,
  isLittle: boolean,
): Reads<number> {
  const size = SIZES[type]
  if (size === undefined || ![1, 3, 4, 16].includes(type) || index >= count)
    throw new BrokenArchiveError('a field of an image directory is not of its type')
  return unsigned(yield* bytesAt(path, offset + index * size, size), 0, size, isLittle)
}

/** Reads consecutive integers of a field. */
export function* numbersFrom(
  path: string,
  { type, count: all, offset }: Field,
  { index, count }: { readonly index: number; readonly count: number },
  isLittle: boolean,
): Reads<number[]> {
  const size = SIZES[type]
  if (size === undefined || ![1, 3, 4, 16].includes(type) || index + count > all || size * count > MAX_VALUE_BYTES)
    throw new BrokenArchiveError('a field of an image directory is not of its type')
  const bytes = yield* bytesAt(path, offset + index * size, size * count)
  return Array.from({ length: count }, (_, i) => unsigned(bytes, i * size, size, isLittle))
}

/** Reads all numbers of a short field, including floating-point numbers. */
export function* numbersOf(path: string, { type, count, offset }: Field, isLittle: boolean): Reads<number[]> {
  const size = SIZES[type]
  if (size === undefined || ![1, 3, 4, 12, 16].includes(type) || size * count > MAX_VALUE_BYTES)
    throw new BrokenArchiveError('a field of an image directory is not of its type')
  const bytes = yield* bytesAt(path, offset, size * count)
  return Array.from({ length: count }, (_, i) => {
    if (type === 12) return isLittle ? bytes.readDoubleLE(i * 8) : bytes.readDoubleBE(i * 8)
    return unsigned(bytes, i * size, size, isLittle)
  })
}

/** Reads the bytes of a short field. */
export function* bytesOf(path: string, { type, count, offset }: Field): Reads<Buffer> {
  const length = (SIZES[type] ?? 0) * count
  if (length > MAX_VALUE_BYTES) throw new BrokenArchiveError('a field of an image directory is larger than allowed')
  return yield* bytesAt(path, offset, length)
}

function* bytesAt(path: string, offset: number, length: number): Reads<Buffer> {
  const bytes = yield { path, offset, length }
  if (bytes === null) throw new BrokenArchiveError('the file no longer exists')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function unsigned(bytes: Buffer, at: number, size: number, isLittle: boolean): number {
  if (size <= 4) return isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size)
  const value = isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BrokenArchiveError('an offset lies beyond the end of the file')
  return Number(value)
}
