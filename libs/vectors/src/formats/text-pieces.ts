import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'
import { decoderOf } from './encoding.js'
import { type Guess, guessEncoding } from './guess-encoding.js'

const PIECE_BYTES = 256 * 1024

/** The encoding in which texts of an unknown one are read. */
export const FALLBACK_ENCODING = 'windows-1252'

/** A text file that is open for reading. */
export interface TextFile {
  readonly fd: number
  /** bytes when it was opened; later ones are not read, since a file may grow as fast as it is read */
  readonly size: number
}

/** Yields a text as UTF-8 without its byte order mark. Each piece is valid until the next one. @param encoding null: unknown, see `MixedDecoder` */
export function* utf8Pieces(file: TextFile, encoding: string | null, progress: () => void): Generator<Buffer, void> {
  const isUtf8Text = encoding !== null && /^(?:utf-?8|ascii)$/i.test(encoding)
  const decoder = isUtf8Text ? null : decoderFor(encoding)
  for (const [at, piece] of rawPieces(file)) {
    progress()
    const bytes = at === 0 && piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf ? piece.subarray(3) : piece
    yield decoder === null ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }))
  }
  const rest = decoder?.decode() ?? ''
  if (rest !== '') yield Buffer.from(rest)
}

interface Decoder {
  decode(bytes?: Buffer, options?: { readonly stream?: boolean }): string
}

function decoderFor(encoding: string | null): Decoder {
  return encoding === null || encoding === FALLBACK_ENCODING ? new MixedDecoder() : new TextDecoder(encoding)
}

/** Decodes the beginning of a text. */
export function decodedHead(head: Buffer, encoding: string | null): string {
  return decoderFor(encoding)
    .decode(head, { stream: true })
    .replace(/^\uFEFF/, '')
}

/** Decodes UTF-8. Bytes that are not part of it become characters of Windows-1252, as other programs show them, so that no text is lost. */
class MixedDecoder {
  readonly #single = decoderOf(null)
  #carried = Buffer.alloc(0)

  decode(piece: Buffer = Buffer.alloc(0), { stream = false } = {}): string {
    const bytes = this.#carried.length === 0 ? piece : Buffer.concat([this.#carried, piece])
    const end = stream ? wholeCharacters(bytes) : bytes.length
    this.#carried = Buffer.from(bytes.subarray(end))
    const whole = bytes.subarray(0, end)
    if (isUtf8(whole)) return whole.toString('utf8')
    let text = ''
    let from = 0
    for (let at = 0; at < end; ) {
      const length = characterLength(whole[at] as number)
      if (length > 0 && at + length <= end && isUtf8(whole.subarray(at, at + length))) {
        at += length
        continue
      }
      text += whole.toString('utf8', from, at) + this.#single(whole.subarray(at, at + 1))
      from = ++at
    }
    return text + whole.toString('utf8', from)
  }
}

/** Returns the bytes of a character of UTF-8 by its first one; 0 if no character begins with it. */
function characterLength(first: number): number {
  return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
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
