import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import send from '@fastify/send'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { attachment } from '@gateway/core/files/attachment.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { StoredExport } from '@gateway/store/exports.js'
import type { FastifyReply } from 'fastify'
import { EXPORT_TYPES, exportDirectory, exportFileName } from '../platform/files/export-files.js'
import { sendRefusal } from '../platform/http/refusal.js'

const NOT_WRITTEN = refuse('not_found', coded('export_not_written'))
const NOT_HERE = refuse('not_found', coded('export_elsewhere'))
const REFUSED: Readonly<Record<number, Refusal>> = {
  412: refuse('precondition_failed', coded('export_other_archive')),
  416: refuse('range_not_satisfiable', coded('range_not_there')),
}

/** The archive of an export, or the range of it and under the condition that the request names. */
export async function sendArchive(
  settings: Settings,
  stored: StoredExport,
  raw: IncomingMessage,
  reply: FastifyReply,
): Promise<unknown> {
  if (stored.status !== 'succeeded') return sendRefusal(reply, NOT_WRITTEN)
  const root = exportDirectory(settings.dataDir)
  const answer = await send(raw, exportFileName(stored), { root, cacheControl: false, index: false })
  if (answer.type !== 'file') {
    // A client that resumes a download learns from it that the file is complete (RFC 9110, 15.5.17).
    const range = answer.headers['Content-Range']
    if (range !== undefined) reply.header('Content-Range', range)
    return sendRefusal(reply, REFUSED[answer.statusCode] ?? NOT_HERE)
  }
  const { basemapCode: code, fromVersion, format } = stored
  const since = fromVersion === null ? '' : `-from-${fromVersion}`
  return reply
    .code(answer.statusCode)
    .headers(answer.headers)
    .header('Content-Type', EXPORT_TYPES[format])
    .header('Content-Disposition', attachment(`${code}-${stored.version}${since}.${format}`, code))
    .send(answer.stream as Readable)
}
