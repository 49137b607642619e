import type { IncomingMessage } from 'node:http'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { archiveSchema, MAX_ARCHIVES } from '@gateway/contracts/export.js'
import { coded } from '@gateway/contracts/messages.js'
import { isListed, readBasemap } from '@gateway/store/basemaps.js'
import { type MemoryListing, pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { readWholeArchives, type StoredExport } from '@gateway/store/exports.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import { EXPORT_TYPES } from '../platform/files/export-files.js'
import type { App } from '../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, sendRefusal } from '../platform/http/refusal.js'
import type { ServiceGate } from '../platform/service-access/token-gate.js'
import { toArchive } from './export-object.js'
import { sendArchive } from './send-archive.js'

const NO_SUCH_ARCHIVE = refuse('not_found', coded('export_not_found'))
/** An archive has the tiles of everywhere. */
const OUTSIDE = refuse('outside_bounds', coded('token_outside'))

const ARCHIVES: MemoryListing<StoredExport> = {
  searched: { version: ({ version }) => version, from_version: ({ fromVersion }) => fromVersion ?? '' },
  sortable: {
    version: ({ version }) => version,
    from_version: ({ fromVersion }) => fromVersion,
    tiles: ({ tiles }) => tiles,
    bytes: ({ bytes }) => bytes,
    created_at: ({ createdAt }) => createdAt.getTime(),
  },
  order: '-created_at',
  filters: { version: ({ version }) => version, from_version: ({ fromVersion }) => fromVersion },
}

const code = z.string().describe('the code, percent-encoded')
const types = Object.fromEntries([EXPORT_TYPES.pmtiles].map((type) => [type, { schema: z.unknown() }]))

/** The archives that a device keeps a copy by: whole versions, and what differs between two. */
export function archiveRoutes(app: App, ctx: ControlContext, gate: ServiceGate): void {
  const { sql, settings } = ctx

  /** The archives that a request may read; null: it is answered. */
  async function archivesFor(
    request: FastifyRequest,
    reply: FastifyReply,
    code: string,
  ): Promise<readonly StoredExport[] | null> {
    if (!gate.grants(request, reply, { kind: 'basemap', code }, 'read')) return null
    const isBounded = (request.serviceToken.limits?.area ?? null) !== null
    const basemap = isBounded ? null : await readBasemap(sql, code)
    if (basemap === null || !isListed(basemap)) {
      await sendRefusal(reply, isBounded ? OUTSIDE : NO_SUCH_BASEMAP)
      return null
    }
    const readable = new Set(basemap.versions.filter(({ withdrawn }) => !withdrawn).map(({ version }) => version))
    return (await readWholeArchives(sql, code, MAX_ARCHIVES)).filter(({ version }) => readable.has(version))
  }

  app.get(
    '/api/v1/catalog/basemaps/:code/archives',
    {
      onRequest: gate.require('read'),
      schema: {
        operationId: 'listArchives',
        summary: 'List the archives from which a device can keep a copy',
        description:
          'Returns the finished PMTiles exports of this basemap that hold a whole version at all zooms, newest first. An entry with ' +
          `\`from_version\` is a delta that a device lays over an older version. At most ${MAX_ARCHIVES} entries. Returns 403 under the same ` +
          'conditions as the basemap itself, and for a token with `bounds`.',
        params: z.object({ code }),
        querystring: listQuery(ARCHIVES, { version: text, from_version: text }, null),
        response: { 200: listOf(archiveSchema) },
      },
    },
    async (request, reply) => {
      const archives = await archivesFor(request, reply, request.params.code)
      if (archives === null) return reply
      const { items, total } = pageOf(archives, ARCHIVES, request.query)
      return { items: items.map((one) => toArchive(one, settings)), total }
    },
  )

  const file = '/api/v1/catalog/basemaps/:code/archives/:id'
  const route = { exposeHeadRoute: false, config: { mayTakeLong: true }, onRequest: gate.require('read') } as const
  const params = z.object({ code, id: z.string() })
  const sendFile = async (
    request: FastifyRequest & { readonly params: z.infer<typeof params> },
    reply: FastifyReply,
  ): Promise<unknown> => {
    const { id, code } = request.params
    const archives = await archivesFor(request, reply, code)
    if (archives === null) return reply
    const found = archives.find((one) => one.id === id)
    return found === undefined
      ? sendRefusal(reply, NO_SUCH_ARCHIVE)
      : sendArchive(settings, found, request.raw as IncomingMessage, reply)
  }
  app.get(
    file,
    {
      ...route,
      schema: {
        operationId: 'downloadArchive',
        summary: 'Download one of these archives',
        description: 'Supports byte ranges, conditional requests and HEAD.',
        params,
        response: { 200: { description: 'the archive', content: types } },
      },
    },
    sendFile as never,
  )
  app.head(file, { ...route, schema: { hide: true, params } }, sendFile as never)
}
