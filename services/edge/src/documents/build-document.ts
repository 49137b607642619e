import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Turns } from './turns.js'

/**
 * Minimum bytes of a document that is compressed: for a smaller one the additional header costs as much as compression saves. The
 * control plane has the same limit.
 */
const WORTH_COMPRESSING = 1024
/** Limit: time in ms of one step of a build, which takes the pieces that are ready within it. */
const STEP_MS = 1
/** Number of characters that are encoded at once. */
const CHUNK_LENGTH = 64 * 1024

const compress = promisify(gzip)

/** The text of a document: all of it, or in pieces if it grows with the catalog. */
export type DocumentText = string | Iterable<string>

export interface BuiltDocument {
  readonly body: Buffer
  readonly isGzip: boolean
  /** Entity tag of the text, with quotes, independent of its encoding. */
  readonly etag: string
}

/**
 * Makes the bytes of a document in steps of a millisecond, and compresses them in a thread.
 * @param gzip compresses the document if that is worth it
 * @param finish transforms each part of the text, for example inserts a token
 */
export async function buildDocument(
  turns: Turns,
  text: DocumentText,
  gzip: boolean,
  finish: (part: string) => string,
): Promise<BuiltDocument> {
  const hash = createHash('sha256')
  const chunks: Buffer[] = []
  await eachPart(turns, typeof text === 'string' ? [text] : text, (part) => {
    const chunk = Buffer.from(finish(part))
    hash.update(chunk)
    chunks.push(chunk)
  })
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  const etag = `"${hash.digest('base64url').slice(0, 27)}"`
  const isGzip = gzip && body.length >= WORTH_COMPRESSING
  return { body: isGzip ? await compress(body) : body, isGzip, etag }
}

/** Joins pieces to parts that are long enough for a call, over as many turns as needed. Rejects with the error of the pieces. */
function eachPart(turns: Turns, pieces: Iterable<string>, take: (part: string) => void): Promise<void> {
  const iterator = pieces[Symbol.iterator]()
  let part = ''
  return new Promise((resolve, reject) => {
    const step = () => {
      try {
        if (takeStep()) resolve()
        else turns.later(step)
      } catch (error) {
        reject(error)
      }
    }
    turns.run(step)
  })

  /** Returns true after the last piece. */
  function takeStep(): boolean {
    const until = performance.now() + STEP_MS
    do {
      const next = iterator.next()
      if (next.done !== true) part += next.value
      if (next.done === true || part.length >= CHUNK_LENGTH) {
        if (part !== '') take(part)
        part = ''
      }
      if (next.done === true) return true
    } while (performance.now() < until)
    return false
  }
}
