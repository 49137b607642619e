import { deflateRawSync, inflateRawSync } from 'node:zlib'

// Names and numbers of APPNOTE.TXT 6.3.10: 4.3.12 (headers of the central directory), 4.3.14 to 4.3.16 (its end), 4.5.3 (Zip64).
const HEADER = { signature: 0x02014b50, size: 46, neededVersion: 6, nameLength: 28, extraLength: 30, offset: 42 }
const END = { signature: 0x06054b50, size: 22, directorySize: 12 }
const END64 = { signature: 0x06064b50, size: 56, directorySize: 40 }
const LOCATOR64 = { signature: 0x07064b50, size: 20 }
const EXTRA64 = { id: 1, size: 12 }
/** The extra field that archiver writes: id, length, both sizes, offset. */
const ARCHIVER_EXTRA64 = { size: 28, offset: 20 }
const VERSION64 = 45

/** A field that holds its largest value points to its Zip64 form. */
const LARGEST_32 = 0xffffffff
const LARGEST_16 = 0xffff

/** Headers are gathered before they are compressed: alike as they are, many take less than few. */
const PACKED_AT = 64 * 1024

/** What the directory of a zip by archiver takes at most, end records included. */
export function mostDirectoryBytes(names: readonly string[]): number {
  const headers = names.reduce((sum, name) => sum + HEADER.size + Buffer.byteLength(name) + ARCHIVER_EXTRA64.size, 0)
  return headers + END64.size + LOCATOR64.size + END.size
}

/**
 * The directory of a zip that is made of several, whose contents follow one another in it. Kept compressed, since it cannot be written
 * before the contents: about 25 bytes for each file.
 */
export class ZipDirectory {
  readonly #packed: Buffer[] = []
  #open: Buffer[] = []
  #openSize = 0
  #entries = 0
  #size = 0

  /**
   * Takes the directory of a zip by archiver whose content begins at `start` in the whole.
   * @param end its last bytes, with all of its directory
   * @returns what stands before the directory in `end`
   */
  take(end: Buffer, start: number): Buffer {
    const from = end.length - directoryBytes(end)
    const headers: Buffer[] = []
    for (let at = from; end.readUInt32LE(at) === HEADER.signature; this.#entries++) {
      const next = at + headerSize(end, at)
      headers.push(...moved(end.subarray(at, next), start))
      at = next
    }
    this.#keep(Buffer.concat(headers))
    return end.subarray(0, from)
  }

  #keep(headers: Buffer): void {
    this.#size += headers.length
    this.#openSize += headers.length
    this.#open.push(headers)
    if (this.#openSize < PACKED_AT) return
    // A copy of its own size: what zlib answers lies in a larger block.
    this.#packed.push(Buffer.from(deflateRawSync(Buffer.concat(this.#open), { level: 1 })))
    this.#open = []
    this.#openSize = 0
  }

  /** @param offset where it stands in the whole: behind all contents */
  *blocks(offset: number): Generator<Buffer> {
    for (const packed of this.#packed) yield inflateRawSync(packed)
    yield* this.#open
    yield endOf(this.#entries, this.#size, offset)
  }
}

/** The bytes of a directory with its end records, as those say, which are the last of `zip`. */
function directoryBytes(zip: Buffer): number {
  const end = zip.length - END.size
  const end64 = end - LOCATOR64.size - END64.size
  const has64 = end64 >= 0 && zip.readUInt32LE(end64) === END64.signature
  const size = has64
    ? Number(zip.readBigUInt64LE(end64 + END64.directorySize))
    : zip.readUInt32LE(end + END.directorySize)
  const bytes = zip.length - (has64 ? end64 : end) + size
  if (zip.readUInt32LE(end) !== END.signature || bytes > zip.length) throw new Error('archiver wrote another directory')
  return bytes
}

function headerSize(zip: Buffer, at: number): number {
  // No comments: nobody gives archiver any.
  return HEADER.size + zip.readUInt16LE(at + HEADER.nameLength) + zip.readUInt16LE(at + HEADER.extraLength)
}

/** A header whose file stands `by` bytes further on, in its pieces. Changes the one that it is given. */
function moved(header: Buffer, by: number): Buffer[] {
  const extraLength = header.readUInt16LE(HEADER.extraLength)
  if (extraLength > 0) {
    const at = header.length - extraLength + ARCHIVER_EXTRA64.offset
    header.writeBigUInt64LE(header.readBigUInt64LE(at) + BigInt(by), at)
    return [header]
  }
  const offset = header.readUInt32LE(HEADER.offset) + by
  if (offset < LARGEST_32) {
    header.writeUInt32LE(offset, HEADER.offset)
    return [header]
  }
  header.writeUInt32LE(LARGEST_32, HEADER.offset)
  header.writeUInt16LE(VERSION64, HEADER.neededVersion)
  header.writeUInt16LE(EXTRA64.size, HEADER.extraLength)
  const extra = Buffer.alloc(EXTRA64.size)
  extra.writeUInt16LE(EXTRA64.id, 0)
  extra.writeUInt16LE(EXTRA64.size - 4, 2)
  extra.writeBigUInt64LE(BigInt(offset), 4)
  return [header, extra]
}

/** The end records, in the form that every reader knows as long as its fields hold the numbers. */
function endOf(entries: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(END.size)
  end.writeUInt32LE(END.signature, 0)
  end.writeUInt16LE(Math.min(entries, LARGEST_16), 8)
  end.writeUInt16LE(Math.min(entries, LARGEST_16), 10)
  end.writeUInt32LE(Math.min(size, LARGEST_32), END.directorySize)
  end.writeUInt32LE(Math.min(offset, LARGEST_32), 16)
  if (entries < LARGEST_16 && size < LARGEST_32 && offset < LARGEST_32) return end
  return Buffer.concat([...end64Of(entries, size, offset), end])
}

function end64Of(entries: number, size: number, offset: number): Buffer[] {
  const end = Buffer.alloc(END64.size)
  end.writeUInt32LE(END64.signature, 0)
  end.writeBigUInt64LE(BigInt(END64.size - 12), 4)
  end.writeUInt16LE(VERSION64, 12)
  end.writeUInt16LE(VERSION64, 14)
  end.writeBigUInt64LE(BigInt(entries), 24)
  end.writeBigUInt64LE(BigInt(entries), 32)
  end.writeBigUInt64LE(BigInt(size), END64.directorySize)
  end.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(LOCATOR64.size)
  locator.writeUInt32LE(LOCATOR64.signature, 0)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16)
  return [end, locator]
}
