import { closeSync, readSync } from 'node:fs'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { UNKNOWN_FACTS, type VectorFacts } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import type { ReadFacts } from '@gateway/store/vectors.js'
import { Tokenizer } from '@streamparser/json'
import { GeojsonReader } from './geojson-reader.js'
import { type Guess, guessEncoding } from './guess-encoding.js'
import { MAX_GEOJSON_BYTES } from './limits.js'

/** RFC 8259: the encoding of all exchanged JSON. */
const OF_ANY: VectorFacts = { ...UNKNOWN_FACTS, encoding: 'UTF-8', encoding_source: 'format' }

const CHUNK_BYTES = 64 * 1024

/** RFC 8142: each text of a sequence may begin with a record separator. */
const RECORD_SEPARATOR = 0x1e
const BLANK = 0x20

export interface GeojsonContent {
  readonly facts: ReadFacts
  /** true if features follow each other instead of one document, whatever the name says */
  readonly isSequence: boolean
}

/**
 * Reads facts from a GeoJSON file or sequence, piece by piece, and keeps only the facts. All but the encoding are null if the content is larger
 * than `maxBytes`, nested too deeply, or damaged. Throws the disk's errors.
 */
export function geojsonFacts(
  root: string,
  path: string,
  progress: () => void,
  { isSequence = false, maxBytes = MAX_GEOJSON_BYTES } = {},
): GeojsonContent {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return { facts: UNKNOWN_FACTS, isSequence }
  const { fd, size } = opened
  try {
    if (size > maxBytes) return ofItsHead(fd, size, isSequence)
    const read = readWhole({ fd, size, progress, isSequence })
    if (!read.reader.isMisnamedSequence) return { facts: factsOf(read), isSequence }
    return { facts: factsOf(readWhole({ fd, size, progress, isSequence: true })), isSequence: true }
  } finally {
    closeSync(fd)
  }
}

interface Reading {
  readonly fd: number
  readonly size: number
  readonly progress: () => void
  readonly isSequence: boolean
}

interface Read {
  readonly reader: GeojsonReader
  readonly encoding: Guess
  readonly isWhole: boolean
}

function factsOf({ reader, encoding, isWhole }: Read): ReadFacts {
  return { ...OF_ANY, ...(isWhole && reader.facts()), ...encodingFacts(encoding) }
}

/** Reads only the first piece of a large file. */
function ofItsHead(fd: number, size: number, isSequence: boolean): GeojsonContent {
  const head = Buffer.alloc(Math.min(CHUNK_BYTES, size))
  readSync(fd, head, 0, head.length, 0)
  const [first = '', second = ''] = head.toString('latin1').trim().split('\n', 2)
  const isLines = first.startsWith('{') && first.trimEnd().endsWith('}') && second.trimStart().startsWith('{')
  return { facts: { ...OF_ANY, ...encodingFacts(guessEncoding(head)) }, isSequence: isSequence || isLines }
}

function encodingFacts(encoding: Guess): Partial<ReadFacts> {
  if (encoding === 'UTF-8' || encoding === 'ASCII') return {}
  const warnings: CodedMessage[] = [
    encoding === null ? coded('scan_json_encoding_unknown') : coded('scan_geojson_encoding', { encoding }),
  ]
  return { encoding, encoding_source: null, warnings }
}

/** Reads as UTF-8. If a byte is not UTF-8, reads again from the beginning in another encoding; an unknown one is read as bytes. */
function readWhole(reading: Reading): Read {
  const validator = new TextDecoder('utf-8', { fatal: true })
  let encoding: Guess = 'UTF-8'
  const asUtf8 = tokenize(reading, (piece) => {
    try {
      validator.decode(piece, { stream: true })
      return piece
    } catch {
      // A piece may begin within a character.
      encoding = guessEncoding(
        piece.subarray(
          Math.max(
            0,
            piece.findIndex((byte) => byte < 0x80),
          ),
        ),
      )
      return null
    }
  })
  if (asUtf8 !== 'other encoding') return { ...asUtf8, encoding }
  const decoder = new TextDecoder(encoding === null ? 'windows-1252' : (encoding as string).toLowerCase())
  const decoded = tokenize(reading, (piece) => Buffer.from(decoder.decode(piece, { stream: true })))
  return decoded === 'other encoding'
    ? { reader: new GeojsonReader(), encoding, isWhole: false }
    : { ...decoded, encoding }
}

/** `isWhole` false: the content is not JSON, or the reader refuses it. @param toUtf8 returns null if the piece is not in the tried encoding */
function tokenize(
  { fd, size, progress, isSequence }: Reading,
  toUtf8: (piece: Buffer) => Buffer | null,
): Omit<Read, 'encoding'> | 'other encoding' {
  const reader = new GeojsonReader(isSequence)
  const tokenizer = new Tokenizer()
  let error: Error | null = null
  tokenizer.onToken = ({ token, value }) => reader.take(token, value)
  tokenizer.onError = (first) => {
    error ??= first
  }
  const chunk = Buffer.alloc(CHUNK_BYTES)
  // Only up to the initial size, since a file may grow as fast as it is read.
  for (let at = 0; at < size; ) {
    const length = readSync(fd, chunk, 0, Math.min(chunk.length, size - at), at)
    if (length === 0) return { reader, isWhole: false }
    const piece = toUtf8(chunk.subarray(0, length))
    if (piece === null) return 'other encoding'
    if (isSequence) replaceSeparators(piece)
    tokenizer.write(piece)
    if (error !== null) return { reader, isWhole: false }
    at += length
    progress()
  }
  return { reader, isWhole: reader.isComplete }
}

function replaceSeparators(piece: Buffer): void {
  for (let at = piece.indexOf(RECORD_SEPARATOR); at >= 0; at = piece.indexOf(RECORD_SEPARATOR, at + 1))
    piece[at] = BLANK
}
