import { DamagedFile } from './feature.js'
import { parseJson } from './json-values.js'
import { MAX_DEPTH, MAX_FEATURE_BYTES } from './limits.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
const RECORD_SEPARATOR = 0x1e
const LINE_FEED = 0x0a

const NOT_GEOJSON = 'it is not GeoJSON'
export const TOO_LARGE = `a feature is larger than ${MAX_FEATURE_BYTES / 1024 ** 2} MiB`

/** A part of a GeoJSON text or sequence. */
export type JsonPart =
  /** an element of `features` that is an object */
  | { readonly what: 'feature'; readonly text: string }
  /** another element of `features` */
  | { readonly what: 'other' }
  /** a document without `features`, or the members of one before or behind its features */
  | { readonly what: 'document' | 'members'; readonly text: string }

/**
 * Splits GeoJSON texts into their features, whatever their size: only one feature is in memory. The documents of a sequence follow each other, with
 * or without separators (RFC 8142). Checks only what the split needs; the parser of a part finds the rest. Throws `DamagedFile`.
 *
 * @param pieces UTF-8, each of which is valid until the next one
 */
export function* splitJson(pieces: Iterable<Buffer>): Generator<JsonPart, void> {
  let buffer = Buffer.alloc(0)
  let end = 0
  /** position of the next byte */
  let at = 0
  /** beginning of the text that is still needed; -1: none */
  let from = -1
  let depth = 0
  let inFeatures = false
  let inText = false
  let expectsKey = false
  let isFeaturesNext = false
  let textAt = 0
  /** true between the features and the end of their document */
  let isTail = false
  let read = 0
  const textTo = (to: number) => buffer.toString('utf8', from, to)

  for (const piece of pieces) {
    // Keeps the beginning of the current part.
    const kept = from < 0 ? 0 : end - from
    if (kept > MAX_FEATURE_BYTES) throw new DamagedFile(read, TOO_LARGE)
    const shift = from < 0 ? end : from
    const needed = kept + piece.length
    if (buffer.length < needed) {
      const longer = Buffer.allocUnsafe(Math.max(needed, buffer.length * 2))
      buffer.copy(longer, 0, shift, end)
      buffer = longer
    } else buffer.copyWithin(0, shift, end)
    at -= shift
    textAt -= shift
    if (from >= 0) from = 0
    end = kept + piece.length
    piece.copy(buffer, kept)
    while (at < end) {
      const byte = buffer[at] as number
      if (inText) {
        const quote = buffer.indexOf(QUOTE, at)
        if (quote < 0 || quote >= end) {
          at = end
          break
        }
        let slashes = 0
        while (quote - 1 - slashes >= textAt && buffer[quote - 1 - slashes] === BACKSLASH) slashes++
        at = quote + 1
        if (slashes % 2 === 1) continue
        inText = false
        if (depth === 1 && expectsKey && !inFeatures)
          isFeaturesNext = quote - textAt === 8 && buffer.toString('latin1', textAt, quote) === 'features'
        continue
      }
      at++
      switch (byte) {
        case QUOTE:
          inText = true
          textAt = at
          continue
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (depth === 0) {
            if (byte === OPEN_BRACKET) throw new DamagedFile(read, NOT_GEOJSON)
            from = at - 1
            expectsKey = true
            isFeaturesNext = false
          } else if (inFeatures && depth === 2) from = at - 1
          else if (depth === 1 && isFeaturesNext && !expectsKey && byte === OPEN_BRACKET) {
            yield { what: 'members', text: `${textTo(at)}]}` }
            inFeatures = true
            from = -1
          }
          if (++depth > MAX_DEPTH) throw new DamagedFile(read, 'it is nested too deeply')
          continue
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          depth--
          if (depth < 0) throw new DamagedFile(read, NOT_GEOJSON)
          if (inFeatures && depth === 2) {
            yield byte === CLOSE_BRACE ? { what: 'feature', text: textTo(at) } : { what: 'other' }
            read++
            from = -1
          } else if (inFeatures && depth === 1) {
            inFeatures = false
            isFeaturesNext = false
            isTail = true
            from = at
          } else if (depth === 0) {
            const text = textTo(at)
            yield isTail ? { what: 'members', text: `{${text.replace(/^\s*,/, '')}` } : { what: 'document', text }
            isTail = false
            from = -1
          }
          continue
        case COLON:
          if (depth === 1) expectsKey = false
          continue
        case COMMA:
          if (depth === 1) {
            expectsKey = true
            isFeaturesNext = false
          }
          continue
        default:
          if (
            depth === 0 &&
            byte > 0x20 &&
            byte !== RECORD_SEPARATOR &&
            byte !== 0xef &&
            byte !== 0xbb &&
            byte !== 0xbf
          )
            throw new DamagedFile(read, NOT_GEOJSON)
      }
    }
  }
  if (depth > 0) throw new DamagedFile(read, 'it ends in the middle')
}

/** Broken lines in front of which more good ones are expected. A document over many lines, which is no sequence, ends the reading soon. */
const MAX_BROKEN_LINES = 100

/**
 * Splits a sequence with broken records by its lines or record separators (RFC 8142, section 2.3: a reader goes on behind a broken record). Each
 * broken record is an element that is `other`. Throws `DamagedFile` if most are broken, or if the last one ends in the middle.
 *
 * @param pieces UTF-8, each of which is valid until the next one
 */
export function* splitLines(pieces: Iterable<Buffer>): Generator<JsonPart, void> {
  let [good, broken] = [0, 0]
  let rest: Buffer = Buffer.alloc(0)
  const partOf = (line: Buffer): JsonPart | null => {
    const text = line.toString('utf8').replaceAll('\u001e', '').trim()
    if (text === '') return null
    const isGood = isDocument(text)
    if (isGood) good++
    else if (++broken > good + MAX_BROKEN_LINES) throw new DamagedFile(good, NOT_GEOJSON)
    return isGood ? { what: 'document', text } : { what: 'other' }
  }
  for (const piece of pieces) {
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    let from = 0
    for (let at = 0; ; ) {
      const lineEnd = bytes.indexOf(LINE_FEED, at)
      if (lineEnd < 0) break
      const part = partOf(bytes.subarray(from, lineEnd))
      if (part !== null) yield part
      at = from = lineEnd + 1
    }
    rest = Buffer.from(bytes.subarray(from))
    if (rest.length > MAX_FEATURE_BYTES) throw new DamagedFile(good, TOO_LARGE)
  }
  const last = partOf(rest)
  if (last?.what === 'other') throw new DamagedFile(good, 'it ends in the middle')
  if (broken > good || broken === 0) throw new DamagedFile(good, NOT_GEOJSON)
  if (last !== null) yield last
}

function isDocument(text: string): boolean {
  try {
    const [part, ...more] = splitJson([Buffer.from(text)])
    return part?.what === 'document' && more.length === 0 && parseJson(text) !== null
  } catch {
    return false
  }
}
