import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'
import { type Guess, guessEncoding } from './guess-encoding.js'

const PIECE_BYTES = 256 * 1024

/** A text file that is open for reading. */
export interface TextFile {
  readonly fd: number
  /** bytes when it was opened; later ones are not read, since a file may grow as fast as it is read */
  readonly size: number
}

/** Yields a text as UTF-8 without its byte order mark. Each piece is valid until the next one. @param encoding null: UTF-8, or bytes of an unknown encoding */
export function* utf8Pieces(file: TextFile, encoding: string | null, progress: () => void): Generator<Buffer, void> {
  const isUtf8Text = encoding === null || /^(?:utf-?8|ascii)$/i.test(encoding)
  const decoder = isUtf8Text ? null : new TextDecoder(encoding)
  for (const [at, piece] of rawPieces(file)) {
    progress()
    if (decoder !== null) yield Buffer.from(decoder.decode(piece, { stream: true }))
    else yield at === 0 && piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf ? piece.subarray(3) : piece
  }
  const rest = decoder?.decode()
  if (rest !== undefined && rest !== '') yield Buffer.from(rest)
}

/** Returns the encoding of a whole text: UTF-8 by its rules, otherwise by the bytes that are not UTF-8. */
export function encodingOfText(file: TextFile, progress: () => void): Guess {
  let carried = Buffer.alloc(0)
  let isAscii = true
  for (const [at, piece] of rawPieces(file)) {
    progress()
    if (at === 0) {
      const marked = guessEncoding(piece.subarray(0, 2))
      if (marked === 'UTF-16LE' || marked === 'UTF-16BE') return marked
    }
    const bytes = carried.length === 0 ? piece : Buffer.concat([carried, piece])
    const end = at + piece.length >= file.size ? bytes.length : wholeCharacters(bytes)
    const whole = bytes.subarray(0, end)
    if (!isUtf8(whole)) {
      // A piece may begin within a character of another encoding.
      const start = whole.findIndex((byte) => byte < 0x80)
      return guessEncoding(whole.subarray(Math.max(0, start)))
    }
    isAscii &&= whole.every((byte) => byte < 0x80)
    carried = Buffer.from(bytes.subarray(end))
  }
  return isAscii ? 'ASCII' : 'UTF-8'
}

/** Returns the length without a last character of UTF-8 that may be cut. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}

function* rawPieces({ fd, size }: TextFile): Generator<[number, Buffer], void> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size))
  for (let at = 0; at < size; ) {
    const length = readSync(fd, piece, 0, Math.min(piece.length, size - at), at)
    if (length === 0) return
    yield [at, piece.subarray(0, length)]
    at += length
  }
}
