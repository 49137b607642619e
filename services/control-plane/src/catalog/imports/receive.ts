import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { CodedError, coded, codeOfSentence, sentence } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import busboy from 'busboy'
import { type Admitted, isSignedBody } from './credential.js'

export interface Received {
  readonly ok: true
  /** content of the part `event` */
  readonly event: string
}

/** decisions.md limits JSON to 1 MiB. */
const MAX_EVENT_BYTES = 1024 * 1024

/** Time after which a silent sender counts as gone. */
const SILENCE_MS = 30_000

/**
 * Receives a multipart/form-data body: the part `event` as text, and the part `archive` into a new file `spool`, at most `maxBytes` in total.
 * It never holds the whole body in memory. Refuses bodies that are too large, incomplete, or not signed as their head promised.
 */
export async function receiveUpload(
  request: IncomingMessage,
  spool: string,
  admitted: Admitted,
  maxBytes: number,
): Promise<Received | Refusal> {
  let parts: { event: string | null; archives: number }
  try {
    parts = await readParts(request, spool, admitted, maxBytes)
  } catch (error) {
    if (error instanceof TooLarge) return refuse('payload_too_large', error.said)
    if (isDiskFull(error)) return refuse('dependency_down', coded('disk_full'))
    return refuse(
      'invalid_parameters',
      coded('import_body_unreadable', { reason: codeOfSentence((error as Error).message) }),
    )
  }
  // The event is parsed only after its signature was checked.
  if (!isSignedBody(admitted)) return refuse('token_unknown', coded('import_signature_wrong'))
  if (parts.event === null) return refuse('invalid_parameters', coded('import_event_missing'))
  if (parts.archives !== 1) return refuse('invalid_parameters', coded('import_one_archive'))
  return { ok: true, event: parts.event }
}

class TooLarge extends CodedError {}

const UNEXPECTED_PART = new Error(sentence('said.import_parts'))

async function readParts(request: IncomingMessage, spool: string, { hmac }: Admitted, maxBytes: number) {
  const parser = busboy({
    headers: request.headers,
    limits: { fieldSize: MAX_EVENT_BYTES, headerPairs: 20 },
  })
  const parts: { event: string | null; archives: number } = { event: null, archives: 0 }
  const writing: Promise<void>[] = []
  const failed = new AbortController()
  parser.on('field', (name, value, { valueTruncated }) => {
    if (valueTruncated) failed.abort(new TooLarge(coded('import_event_too_large')))
    else if (name !== 'event' || parts.event !== null) failed.abort(UNEXPECTED_PART)
    else parts.event = value
  })
  parser.on('file', (name, file) => {
    parts.archives++
    if (name !== 'archive' || parts.archives > 1) {
      file.resume()
      return failed.abort(UNEXPECTED_PART)
    }
    const output = createWriteStream(spool, { flags: 'wx', mode: 0o600 })
    const written = pipeline(file, output)
    // A failure of the writing also stops the reading.
    written.catch((error) => failed.abort(error))
    writing.push(written)
  })
  const silence = setTimeout(() => failed.abort(new Error(sentence('said.import_silence'))), SILENCE_MS)
  let size = 0
  const gauge = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      silence.refresh()
      size += chunk.length
      hmac?.update(chunk)
      if (size > maxBytes) done(new TooLarge(coded('body_larger_than', { limit: maxBytes })))
      else done(null, chunk)
    },
  })
  try {
    await pipeline(request, gauge, parser, { signal: failed.signal })
    await Promise.all(writing)
  } catch (error) {
    throw failed.signal.aborted ? failed.signal.reason : error
  } finally {
    clearTimeout(silence)
    await Promise.allSettled(writing)
  }
  return parts
}
