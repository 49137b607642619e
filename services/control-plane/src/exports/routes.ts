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
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
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
          'The version must lie in Web Mercator and may use any storage. If it is of a service (`storage: upstream`), the archive has the tiles that are kept in ' +
          'TILE_CACHE_DIR of the host of the control plane that writes it; nothing is fetched. The archive has the tiles that lie in `bounds` or touch them, at the ' +
          'zooms of the version between `zoom_min` and `zoom_max`. `format` is PMTiles 3 (clustered, equal tiles stored once), MBTiles 1.3, a ' +
          'GeoPackage with the table `tiles`, or a tile package (`tpkx`). GeoPackages and tile packages hold PNG, JPEG or WebP. Vector tiles ' +
          'are gzipped. Exports are written one at a time, in the order of the requests; an export that a crash interrupts is written again. ' +
          'With `target_code` the finished archive is pushed as `{basemap_code}/{version}.{format}`: into the directory, the bucket or the ' +
          'upload of the target, or by a message that names the export. The delivery is among the push records. `from_version` (only with ' +
          'PMTiles) names another version of the same grid and format. The archive then has the tiles that were added or changed since that ' +
          'version; `delta` in its metadata lists the `removed` tiles and has the digests of both sets. All archives together take at most ' +
          'EXPORT_MAX_BYTES; each is kept for EXPORT_RETENTION_DAYS. `publish_as` (only for a version of a service) serves the tiles as a new, ' +
          'immutable version of the same basemap, with the zooms and bounds of these tiles. The default version stays. Its file is separate from the ' +
          'export, and is deleted within days after the version. Returns 409 if the basemap has the label already.',
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
        summary: 'List exports, newest first',
        description:
          'Includes waiting exports, the one that is being written, and, for EXPORT_RETENTION_DAYS, those that have ended.',
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
        summary: 'Get an export',
        description: 'While the export is being written, the response has its progress.',
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
          'Removes the export and its archive. An export that is being written ends within seconds, and its unfinished push fails. A target ' +
          'keeps the files that it has received.',
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
        summary: 'Download the archive of an export',
        description:
          'In the format of the export. Supports byte ranges, conditional requests and HEAD. Returns 404 until the archive is complete.',
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
