import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded, storedMessage } from '@gateway/contracts/messages.js'
import {
  MAX_SEEDED_TILES,
  SEED_STATUSES,
  type Seed,
  seedBodySchema,
  seedEstimateSchema,
  seedSchema,
} from '@gateway/contracts/seed.js'
import { insertAudit } from '@gateway/store/audit.js'
import { flag, listQuery, text } from '@gateway/store/catalog/list-query.js'
import { cancelSeed, listSeeds, readSeed, SEED_LISTING, type StoredSeed } from '@gateway/store/seeds.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { estimateSeed, requestSeed } from './request.js'

const NO_SUCH_SEED = refuse('not_found', coded('seed_not_found'))
const FINISHED = refuse('conflict', coded('seed_ended'))
/** Typical time of a seed of a small area. */
const TRY_AGAIN_SECONDS = 60

const params = z.object({ id: z.string() })

export function seedRoutes(app: App, ctx: ControlContext): void {
  const { sql } = ctx
  const find = (id: string) => (isUuid(id) ? readSeed(sql, id) : null)
  app.post(
    '/api/v1/admin/seeds',
    {
      schema: {
        operationId: 'createSeed',
        summary: 'Fetch tiles of a service before they are asked for',
        description:
          'Only for versions with `storage: upstream`. The tiles of the area that are not kept, or are old, are fetched from the service and kept in ' +
          'TILE_CACHE_DIR of the host of the control plane that runs the job; edges of the same host serve them from there. `rate` limits the ' +
          'requests; a service that draws pictures gives several tiles by one request. Tiles that do not fit TILE_CACHE_BYTES displace others. Seeds ' +
          'run one at a time, in the order of the requests. One that a crash interrupts continues where it was. While the service is not ' +
          'asked because it has failed, the seed waits, and `message` has the reason. A tile that fails three times is left out and named in `failures`. ' +
          `The seed fails if very many requests in a row do. At most ${MAX_SEEDED_TILES} tiles.`,
        body: seedBodySchema,
        response: { 202: seedSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await sql.begin((tx) => requestSeed(ctx, tx, body, admin))
      if (outcome.ok) return reply.code(202).send(toSeed(outcome.seed))
      if (outcome.code === 'too_many_requests') reply.header('Retry-After', String(TRY_AGAIN_SECONDS))
      return sendRefusal(reply, outcome)
    },
  )
  app.post(
    '/api/v1/admin/seeds/estimate',
    {
      schema: {
        operationId: 'estimateSeed',
        summary: 'Estimate a seed',
        description: 'Returns what a seed would fetch if nothing of its area were kept, and writes nothing.',
        body: seedBodySchema,
        response: { 200: seedEstimateSchema },
      },
    },
    async ({ body }, reply) => {
      const outcome = await estimateSeed(ctx, body)
      return outcome.ok ? outcome.estimate : sendRefusal(reply, outcome)
    },
  )
  app.get(
    '/api/v1/admin/seeds',
    {
      schema: {
        operationId: 'listSeeds',
        summary: 'List seeds, newest first',
        description: 'Seeds are kept for JOB_RETENTION_DAYS after their end.',
        querystring: listQuery(SEED_LISTING, { status: z.enum(SEED_STATUSES), cancelled: flag, basemap_code: text }),
        response: { 200: listOf(seedSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listSeeds(sql, query)
      return { items: items.map(toSeed), total }
    },
  )
  app.get(
    '/api/v1/admin/seeds/:id',
    {
      schema: {
        operationId: 'getSeed',
        summary: 'Get a seed',
        description: 'While it runs, the response has its progress.',
        params,
        response: { 200: seedSchema },
      },
    },
    async ({ params: { id } }, reply) => {
      const seed = await find(id)
      return seed === null ? sendRefusal(reply, NO_SUCH_SEED) : toSeed(seed)
    },
  )
  app.post(
    '/api/v1/admin/seeds/:id/cancel',
    {
      schema: {
        operationId: 'cancelSeed',
        summary: 'Cancel a seed',
        description:
          'A pending seed ends at once, and a running one within seconds. Both become `failed`, with `cancelled` and a message that names the ' +
          'administrator and the time. Tiles that were fetched stay. Returns 409 if it has ended.',
        params,
        response: { 202: seedSchema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      if (!isUuid(id)) return sendRefusal(reply, NO_SUCH_SEED)
      const who = admin.actor === 'token' ? 'ADMIN_TOKEN' : admin.actor
      const said = coded('seed_cancelled_by', { actor: who, at: new Date(ctx.now()).toISOString() })
      const outcome = await sql.begin(async (tx) => {
        const cancelled = await cancelSeed(tx, id, said)
        if (typeof cancelled === 'string') return cancelled
        const detail = { basemap: cancelled.basemapCode, version: cancelled.version }
        await insertAudit(tx, { ...admin, action: 'seed.cancel', subject: id, detail })
        return cancelled
      })
      if (outcome === 'unknown') return sendRefusal(reply, NO_SUCH_SEED)
      if (outcome === 'finished') return sendRefusal(reply, FINISHED)
      return reply.code(202).send(toSeed(outcome))
    },
  )
}

function toSeed(stored: StoredSeed): Seed {
  const { total, done, failed, failures, status } = stored
  return {
    id: stored.id,
    basemap_code: stored.basemapCode,
    version: stored.version,
    bounds: stored.bounds,
    min_zoom: stored.minZoom,
    max_zoom: stored.maxZoom,
    rate: stored.rate,
    status,
    cancelled: stored.cancelled,
    ...storedMessage(stored.message, stored.messageCoded),
    progress: Math.floor((1000 * (done + failed)) / total) / 10,
    total,
    done,
    failed,
    failures: [...failures],
    requested_by: stored.requestedBy,
    created_at: stored.createdAt.toISOString(),
    started_at: stored.startedAt?.toISOString() ?? null,
    finished_at: stored.finishedAt?.toISOString() ?? null,
  }
}
