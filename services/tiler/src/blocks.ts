import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The required form of a block file. Any other form means that GDAL did not make what was requested. */
export interface BlockLayout {
  readonly width: number
  readonly height: number
  /** pixels of a block's side */
  readonly blockSize: number
  readonly samples: number
  readonly sampleBytes: number
}

export interface Blocks {
  /** Returns the interleaved samples of a block, or `null` if the file is sparse there, because no source reaches it. */
  read(column: number, row: number): Buffer | null
  close(): void
}

/**
 * The options that make GDAL write such a file, in addition to its size and blocks. They are stated outright: otherwise `gdal_translate` takes
 * them over from its source.
 */
export const BLOCK_OPTIONS = ['INTERLEAVE=PIXEL', 'COMPRESS=NONE', 'ENDIANNESS=LITTLE'].flatMap((each) => ['-co', each])

/** The relevant TIFF 6.0 tags, by number. */
const TAG = {
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  samples: 277,
  planar: 284,
  blockWidth: 322,
  blockHeight: 323,
  offsets: 324,
  byteCounts: 325,
} as const

/** Bytes of a value by TIFF field type; BigTIFF adds 16 to 18. */
const TYPE_BYTES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 16: 8 }

const LITTLE_ENDIAN = 0x4949
const BIG_TIFF = 43
const HEADER_BYTES = 16
const ENTRY_BYTES = 20
/** Maximum number of entries; GDAL writes some twenty. */
const MAX_ENTRIES = 200
const UNCOMPRESSED = 1
const INTERLEAVED = 1

/**
 * Opens a little-endian, tiled, uncompressed, pixel-interleaved BigTIFF, as written by GDAL for us. It reads no other form: the
 * files are our own, so any deviation from the request is an error.
 */
export function openBlocks(file: string, layout: BlockLayout): Blocks {
  const descriptor = openSync(file, 'r')
  try {
    return blocksOf(descriptor, layout)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function blocksOf(descriptor: number, layout: BlockLayout): Blocks {
  const fileBytes = fstatSync(descriptor).size
  const read = (offset: number, bytes: number): Buffer => {
    if (offset < 0 || bytes < 0 || offset + bytes > fileBytes) throw new Error('the scratch file is cut short')
    const buffer = Buffer.allocUnsafe(bytes)
    if (readSync(descriptor, buffer, 0, bytes, offset) !== bytes) throw new Error('the scratch file is cut short')
    return buffer
  }
  const values = readDirectory(read)
  const across = Math.ceil(layout.width / layout.blockSize)
  const down = Math.ceil(layout.height / layout.blockSize)
  assertLayout(values, layout, across * down)
  const offsets = values.get(TAG.offsets)!
  const byteCounts = values.get(TAG.byteCounts)!
  const blockBytes = layout.blockSize * layout.blockSize * layout.samples * layout.sampleBytes
  return {
    read(column, row) {
      if (column < 0 || column >= across || row < 0 || row >= down) throw new RangeError('no such block')
      const index = row * across + column
      if (offsets[index] === 0) return null
      if (byteCounts[index] !== blockBytes) throw new Error('a block of the scratch file has a wrong size')
      return read(offsets[index]!, blockBytes)
    },
    close: () => closeSync(descriptor),
  }
}

function readDirectory(read: (offset: number, bytes: number) => Buffer): Map<number, number[]> {
  const header = read(0, HEADER_BYTES)
  if (header.readUInt16LE(0) !== LITTLE_ENDIAN || header.readUInt16LE(2) !== BIG_TIFF) {
    throw new Error('the scratch file is not a little-endian BigTIFF')
  }
  const start = Number(header.readBigUInt64LE(8))
  const count = Number(read(start, 8).readBigUInt64LE(0))
  if (count > MAX_ENTRIES) throw new Error('the directory of the scratch file is damaged')
  const wanted = new Set<number>(Object.values(TAG))
  const entries = read(start + 8, count * ENTRY_BYTES)
  const values = new Map<number, number[]>()
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const tag = entries.readUInt16LE(at)
    if (wanted.has(tag)) values.set(tag, readValues(entries.subarray(at, at + ENTRY_BYTES), read))
  }
  return values
}

function readValues(entry: Buffer, read: (offset: number, bytes: number) => Buffer): number[] {
  const type = entry.readUInt16LE(2)
  const size = TYPE_BYTES[type]
  if (!size) throw new Error('the directory of the scratch file is damaged')
  const count = Number(entry.readBigUInt64LE(4))
  const inline = count * size <= 8
  const data = inline ? entry.subarray(12, 12 + count * size) : read(Number(entry.readBigUInt64LE(12)), count * size)
  return Array.from({ length: count }, (_, index) =>
    size === 8 ? Number(data.readBigUInt64LE(index * 8)) : data.readUIntLE(index * size, size),
  )
}

function assertLayout(values: ReadonlyMap<number, number[]>, layout: BlockLayout, blocks: number): void {
  const one = (tag: number, fallback?: number) => values.get(tag)?.[0] ?? fallback
  const bits = values.get(TAG.bitsPerSample) ?? []
  const matches =
    one(TAG.width) === layout.width &&
    one(TAG.height) === layout.height &&
    one(TAG.blockWidth) === layout.blockSize &&
    one(TAG.blockHeight) === layout.blockSize &&
    one(TAG.samples, 1) === layout.samples &&
    bits.length === layout.samples &&
    bits.every((each) => each === layout.sampleBytes * 8) &&
    one(TAG.compression, UNCOMPRESSED) === UNCOMPRESSED &&
    one(TAG.planar, INTERLEAVED) === INTERLEAVED &&
    values.get(TAG.offsets)?.length === blocks &&
    values.get(TAG.byteCounts)?.length === blocks
  if (!matches) throw new Error('the scratch file is not laid out as it was asked for')
}
