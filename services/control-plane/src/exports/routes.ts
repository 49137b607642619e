import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { EXPORT_STATUSES, exportBodySchema, exportSchema } from '@gateway/contracts/export.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { deleteExport, EXPORT_LISTING, listExports, readExport } from '@gateway/store/exports.js'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import { EXPORT_TYPES, exportDirectory, exportFileName } from '../platform/files/export-files.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { isUuid } from '../platform/http/uuid.js'
import { toExport } from './export-object.js'
import { requestExport } from './request.js'
import { sendArchive } from './send-archive.js'

const NO_SUCH_EXPORT = refuse('not_found', coded('export_not_found'))

/** Typical time of an export of a usual area. */
const TRY_AGAIN_SECONDS = 60

const params = z.object({ id: z.string() })

export function exportRoutes(app: App, ctx: ControlContext): void {
  const { sql, settings } = ctx
  const find = (id: string) => (isUuid(id) ? readExport(sql, id) : null)
  const sendFile = async (id: string, raw: IncomingMessage, reply: FastifyReply) => {
    const stored = await find(id)
    return stored === null ? sendRefusal(reply, NO_SUCH_EXPORT) : sendArchive(settings, stored, raw, reply)
  }
  app.post(
    '/api/v1/admin/exports',
    {
      schema: {
        operationId: 'createExport',
        summary: 'Export a version, or a part of it, as an archive',
        description:
          'Of a version in Web Mercator, in whatever storage: the tiles that lie in `bounds` or touch them, at the zooms of the version between ' +
          '`zoom_min` and `zoom_max`, as an archive of `format`: PMTiles 3, clustered, equal tiles stored once; MBTiles 1.3; a GeoPackage with the table `tiles`; ' +
          'or a tile package (`tpkx`). GeoPackages and tile packages hold PNG, JPEG or WebP. Vector tiles are gzipped. Exports are written one at a time, ' +
          'in the order in which they were requested; one that a crash interrupted is written again. With `target_code` the archive is then pushed ' +
          'as `{basemap_code}/{version}.{format}` in the way of the target: into its directory, its bucket or its upload, or by a message that names the ' +
          'export; its record is among the push records. With `from_version` (PMTiles only), a version of the same grid and format, it has the tiles that were added or changed ' +
          'since; `delta` in its metadata lists those that were `removed`, and has the digests of both sets. All archives together take at most EXPORT_MAX_BYTES; each is kept for EXPORT_RETENTION_DAYS.',
        body: exportBodySchema,
        response: { 202: exportSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await sql.begin((tx) => requestExport(tx, body, admin))
      if (outcome.ok) return reply.code(202).send(toExport(outcome.wanted, settings))
      if (outcome.code === 'too_many_requests') reply.header('Retry-After', String(TRY_AGAIN_SECONDS))
      return sendRefusal(reply, outcome)
    },
  )
  app.get(
    '/api/v1/admin/exports',
    {
      schema: {
        operationId: 'listExports',
        summary: 'Exports, newest first',
        description: 'Those that wait, the one that is written, and for EXPORT_RETENTION_DAYS those that have ended.',
        querystring: listQuery(EXPORT_LISTING, {
          status: z.enum(EXPORT_STATUSES),
          basemap_code: text,
          version: text,
          target_code: text,
        }),
        response: { 200: listOf(exportSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listExports(sql, query)
      return { items: items.map((item) => toExport(item, settings)), total }
    },
  )
  app.get(
    '/api/v1/admin/exports/:id',
    {
      schema: {
        operationId: 'getExport',
        summary: 'An export',
        description: 'With its progress while it is written.',
        params,
        response: { 200: exportSchema },
      },
    },
    async ({ params: { id } }, reply) => {
      const stored = await find(id)
      return stored === null ? sendRefusal(reply, NO_SUCH_EXPORT) : toExport(stored, settings)
    },
  )
  app.delete(
    '/api/v1/admin/exports/:id',
    {
      schema: {
        operationId: 'deleteExport',
        summary: 'Remove an export',
        description:
          'With its archive. One that is being written ends within seconds; a push of it that has not arrived fails. What a target has received stays.',
        params,
        response: { 200: exportSchema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const stored = await find(id)
      const removed =
        stored !== null &&
        (await sql.begin(async (tx) => {
          const { basemapCode: basemap, version } = stored
          const detail = { name: (await readBasemap(tx, basemap))?.name, basemap, version }
          await insertAudit(tx, { ...admin, action: 'export.delete', subject: id, detail })
          return deleteExport(tx, id)
        }))
      if (!removed) return sendRefusal(reply, NO_SUCH_EXPORT)
      await rm(join(exportDirectory(settings.dataDir), exportFileName(stored)), { force: true })
      return toExport(stored, settings)
    },
  )
  // Fastify's automatic HEAD route would read the whole file.
  const file = '/api/v1/admin/exports/:id/file'
  const route = { exposeHeadRoute: false, config: { mayTakeLong: true } } as const
  app.get(
    file,
    {
      ...route,
      schema: {
        operationId: 'downloadExport',
        summary: 'The archive of an export',
        description:
          'In the format of the export. Answers byte ranges and conditional requests, and HEAD; 404 while it is not written.',
        params,
        response: {
          200: {
            description: 'the archive',
            content: Object.fromEntries(Object.values(EXPORT_TYPES).map((type) => [type, { schema: z.unknown() }])),
          },
        },
      },
    },
    ({ params: { id }, raw }, reply) => sendFile(id, raw, reply),
  )
  app.head(file, { ...route, schema: { hide: true, params } }, ({ params: { id }, raw }, reply) =>
    sendFile(id, raw, reply),
  )
}
