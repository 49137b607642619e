import { constants, crc32, deflateRawSync, type ZlibOptions } from 'node:zlib'
import type { Chunk, TextSum } from './items-query.js'

/** Compression level for text that one request asks for: a higher one would be slower than the query that makes the text. */
export const GZIP_LEVEL = 1
/** Size in bytes up to which zlib uses less memory, which it clears for each part. */
const SMALL_BYTES = 4_096
const SMALL: ZlibOptions = { memLevel: 4, windowBits: 12 }
/** Head of a gzip member without name and time (RFC 1952, section 2.3.1). */
export const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** The final block of a member: an empty one (RFC 1951, section 3.2.6). */
const FINAL_BLOCK = [3, 0]

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
    const options = { level: GZIP_LEVEL, finishFlush: constants.Z_SYNC_FLUSH }
    return deflateRawSync(text, text.length > SMALL_BYTES ? options : { ...options, ...SMALL })
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
