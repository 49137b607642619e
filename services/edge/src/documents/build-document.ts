import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Turns } from './turns.js'

/** Below this a header more weighs as much as what is saved; bytes. The control plane holds the same. */
const WORTH_COMPRESSING = 1024
/** Limit: milliseconds that one step of a build takes, by the pieces that are ready within it. */
const STEP_MS = 1
/** Characters that are turned into bytes at once. */
const CHUNK_LENGTH = 64 * 1024

const compress = promisify(gzip)

/** The text of a document: all of it, or piece by piece where it grows with the catalog. */
export type DocumentText = string | Iterable<string>

export interface BuiltDocument {
  readonly body: Buffer
  readonly isGzip: boolean
  /** the opaque part of an entity tag of the text, whatever its encoding; quotes included */
  readonly etag: string
}

/**
 * Makes the bytes of a document in steps of a millisecond, and compresses them beside the event loop.
 * @param gzip compress what is worth it
 * @param finish what becomes of each part of the text, a token that is put into it
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

/** Joins pieces to parts of a length that is worth a call, over as many turns as it takes. Rejects with what the pieces throw. */
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

  /** Whether it was the last one. */
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
