import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** One file in a zip, as described by its header in the central directory. */
export interface ZipEntry {
  readonly name: string
  /** milliseconds since 1970 */
  readonly mtimeMs: number
  readonly deflated: boolean
  /** true if checksum and sizes follow the content, because they were unknown before it */
  readonly streamed: boolean
  /** with `streamed`: the content may reach 4 GiB */
  readonly large: boolean
  readonly offset: number
  readonly crc: number
  readonly size: number
  readonly packedSize: number
}

// Numbers and names of APPNOTE.TXT 6.3.10: 4.3.7 (local header), 4.3.9 (data descriptor), 4.3.12 (central header), 4.3.14 to 4.3.16 (end of
// the directory), 4.5.3 (Zip64). A field that holds its largest value refers to its Zip64 form.
const LARGEST_32 = 0xffffffff
const LARGEST_16 = 0xffff
const ZIP64_EXTRA = 1
const VERSION = 20
const VERSION64 = 45
const MADE_ON_UNIX = 3 << 8
const PLAIN_FILE_644 = 0o100644 * 2 ** 16
const STREAMED = 1 << 3
const UTF8_NAME = 1 << 11
const DEFLATED = 8

/** Headers are collected up to this size before they are compressed, since similar headers compress well together. */
const PACKED_AT = 64 * 1024

/** Encodes little-endian fields, each given by its size and its value. */
function record(...fields: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}

const low32 = (value: number) => Math.min(value, LARGEST_32)

/** Returns the header in front of a file's content. */
export function localHeader(entry: ZipEntry): Buffer {
  const { streamed, large } = entry
  const extra = large ? record([2, ZIP64_EXTRA], [2, 16], [8, 0], [8, 0]) : Buffer.alloc(0)
  const unknown = large ? LARGEST_32 : 0
  return Buffer.concat([
    record([4, 0x04034b50], [2, large ? VERSION64 : VERSION], ...commonFields(entry)),
    record([4, streamed ? 0 : entry.crc]),
    record([4, streamed ? unknown : entry.packedSize], [4, streamed ? unknown : entry.size]),
    record([2, Buffer.byteLength(entry.name)], [2, extra.length]),
    Buffer.from(entry.name),
    extra,
  ])
}

/** Returns the record that follows the content of a streamed file. */
export function dataDescriptor({ crc, packedSize, size, large }: ZipEntry): Buffer {
  const bytes = large ? 8 : 4
  return record([4, 0x08074b50], [4, crc], [bytes, packedSize], [bytes, size])
}

function centralHeader(entry: ZipEntry): Buffer {
  const { crc, size, packedSize, offset, name } = entry
  const large = [size, packedSize, offset].filter((value) => value >= LARGEST_32)
  const fields = large.map((value) => [8, value] as const)
  const extra = large.length === 0 ? Buffer.alloc(0) : record([2, ZIP64_EXTRA], [2, 8 * large.length], ...fields)
  const version = extra.length > 0 || entry.large ? VERSION64 : VERSION
  return Buffer.concat([
    record([4, 0x02014b50], [2, MADE_ON_UNIX | version], [2, version], ...commonFields(entry)),
    record([4, crc], [4, low32(packedSize)], [4, low32(size)], [2, Buffer.byteLength(name)], [2, extra.length]),
    record([2, 0], [2, 0], [2, 0], [4, PLAIN_FILE_644], [4, low32(offset)]),
    Buffer.from(name),
    extra,
  ])
}

/** Returns flags, method, time and date. */
function commonFields({ streamed, deflated, mtimeMs }: ZipEntry) {
  const flags = UTF8_NAME | (streamed ? STREAMED : 0)
  return [
    [2, flags],
    [2, deflated ? DEFLATED : 0],
    [4, dosTime(mtimeMs)],
  ] as const
}

/** Encodes a time in UTC, so that a file gives the same bytes everywhere. The range is 1980 to 2107. */
function dosTime(ms: number): number {
  const at = new Date(ms)
  const year = Math.max(0, Math.min(127, at.getUTCFullYear() - 1980))
  const date = (year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return date * 2 ** 16 + time
}

/**
 * The central directory. It must follow all contents, and a version may have millions of files. It is therefore kept compressed, at about
 * 25 bytes for each file.
 */
export class ZipDirectory {
  readonly #packed: Buffer[] = []
  #open: Buffer[] = []
  #openSize = 0
  #entries = 0
  #size = 0

  add(entry: ZipEntry): void {
    const header = centralHeader(entry)
    this.#entries++
    this.#size += header.length
    this.#openSize += header.length
    this.#open.push(header)
    if (this.#openSize < PACKED_AT) return
    // A copy of the exact size, since zlib's result is a view of a larger block.
    this.#packed.push(Buffer.from(deflateRawSync(Buffer.concat(this.#open), { level: 1 })))
    this.#open = []
    this.#openSize = 0
  }

  /** @param offset position of the directory in the zip */
  *blocks(offset: number): Generator<Buffer> {
    for (const packed of this.#packed) yield inflateRawSync(packed)
    yield* this.#open
    yield this.#end(offset)
  }

  #end(offset: number): Buffer {
    const entries = this.#entries
    const size = this.#size
    const listed = Math.min(entries, LARGEST_16)
    const end = record([4, 0x06054b50], [4, 0], [2, listed], [2, listed], [4, low32(size)], [4, low32(offset)], [2, 0])
    if (entries < LARGEST_16 && size < LARGEST_32 && offset < LARGEST_32) return end
    const end64 = record(
      ...([
        [4, 0x06064b50],
        [8, 44],
        [2, VERSION64],
        [2, VERSION64],
        [4, 0],
        [4, 0],
      ] as const),
      ...([
        [8, entries],
        [8, entries],
        [8, size],
        [8, offset],
      ] as const),
    )
    const locator = record([4, 0x07064b50], [4, 0], [8, offset + size], [4, 1])
    return Buffer.concat([end64, locator, end])
  }
}
