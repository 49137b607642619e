import { Readable } from 'node:stream'
import type { AuditRow } from '@gateway/store/audit.js'
import type { FastifyReply } from 'fastify'
import { csvLine } from '../http/csv.js'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
type ExportFormat = (typeof EXPORT_FORMATS)[number]

const COLUMNS = ['id', 'at', 'actor', 'address', 'action', 'subject', 'detail', 'subject_name'] as const
const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/** Sends entries as fast as the client reads them. A store that fails before the first entry causes a regular error. */
export async function exportStream(
  reply: FastifyReply,
  format: ExportFormat,
  parts: AsyncGenerator<readonly AuditRow[]>,
): Promise<FastifyReply> {
  const first = await parts.next()
  const text = async function* () {
    if (format === 'csv') yield csvLine(COLUMNS)
    if (!first.done) yield textOf(format, first.value)
    for await (const part of parts) yield textOf(format, part)
  }
  return reply
    .header('Content-Type', TYPES[format])
    .header('Content-Disposition', `attachment; filename="audit.${format}"`)
    .send(Readable.from(text(), { objectMode: false }))
}

function textOf(format: ExportFormat, entries: readonly AuditRow[]): string {
  if (format === 'ndjson') return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
  return entries
    .map((entry) =>
      csvLine(COLUMNS.map((name) => (name === 'detail' ? JSON.stringify(entry.detail) : (entry[name] ?? '')))),
    )
    .join('')
}
