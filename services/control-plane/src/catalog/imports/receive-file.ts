import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'

/** Maximum milliseconds without a byte of the body. */
const SILENCE_MS = 30_000

class TooLarge extends Error {}

/**
 * Writes a body of at most `most` bytes to a file, which `wx` creates and `a` continues. Returns null, or why it could not be received. Bytes that
 * came before a failure stay in the file.
 */
export async function receiveFile(
  body: IncomingMessage,
  file: string,
  most: number,
  flags: 'wx' | 'a',
): Promise<Refusal | null> {
  const failed = new AbortController()
  const silence = setTimeout(() => failed.abort(new Error('nothing came for 30 s')), SILENCE_MS)
  let size = 0
  const gauge = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      silence.refresh()
      size += chunk.length
      done(size > most ? new TooLarge() : null, chunk)
    },
  })
  try {
    await pipeline(body, gauge, createWriteStream(file, { flags, mode: 0o600 }), { signal: failed.signal })
    return null
  } catch (error) {
    if (error instanceof TooLarge) return refuse('payload_too_large', coded('body_larger_than', { limit: most }))
    if (isDiskFull(error)) return refuse('dependency_down', coded('disk_full'))
    const { message } = (failed.signal.aborted ? failed.signal.reason : error) as Error
    return refuse('invalid_parameters', coded('import_body_unreadable', { reason: message }))
  } finally {
    clearTimeout(silence)
  }
}
