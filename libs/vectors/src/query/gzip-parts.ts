import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Chunk } from './items-query.js'

/** Compression level for text that one request asks for: a higher one would be slower than the query that makes the text. */
const LEVEL = 1
/** Size in bytes up to which a part is stored uncompressed: compression would take longer than it saves. */
const STORED_BYTES = 1_024
/** Head of a gzip member without name and time (RFC 1952, section 2.3.1). */
export const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** The final block of a member: an empty one (RFC 1951, section 3.2.6). */
const FINAL_BLOCK = [3, 0]

/** The text of a response so far: its CRC-32 and its length in bytes. */
export interface TextSum {
  readonly crc: number
  readonly length: number
}

export const NO_TEXT: TextSum = { crc: 0, length: 0 }

/**
 * Compresses the parts of one text. Between `GZIP_HEAD` and `end` they are one member, although different processes may compress them: several
 * members in one response are not understood by all browsers.
 */
export class GzipParts {
  #sum: TextSum

  /** @param sum of the parts before */
  constructor(sum: TextSum) {
    this.#sum = sum
  }

  get sum(): TextSum {
    return this.#sum
  }

  /** Returns a part as blocks that end at a byte (RFC 1951), none of which is final. */
  add(text: Uint8Array): Uint8Array {
    if (text.length === 0) return text
    this.#sum = { crc: crc32(text, this.#sum.crc), length: this.#sum.length + text.length }
    if (text.length > STORED_BYTES) return deflateRawSync(text, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH })
    const head = Buffer.alloc(5)
    head.writeUInt16LE(text.length, 1)
    head.writeUInt16LE(text.length ^ 0xffff, 3)
    return Buffer.concat([head, text])
  }

  /** Returns a part of a response with its bytes compressed. */
  pack(chunk: Chunk): Chunk {
    const bytes = this.add(chunk.bytes)
    return { ...chunk, bytes, sum: this.#sum }
  }

  /** Returns the end of the member. */
  end(): Uint8Array {
    const end = Buffer.alloc(10)
    end.set(FINAL_BLOCK)
    end.writeUInt32LE(this.#sum.crc, 2)
    end.writeUInt32LE(this.#sum.length % 2 ** 32, 6)
    return end
  }
}
