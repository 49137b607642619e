import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import type { ServiceGate } from '../../platform/service-access/token-gate.js'
import { LIMIT_SECONDS, MAX_AT_ONCE, VersionChanges } from './version-changes.js'

const label = z.string().min(1)
const querySchema = z.strictObject({
  from: label.describe('the label of the older version, or `current`'),
  to: label.describe('the label of the newer one, or `current`'),
})

/** Lists the tiles that a device with one version must fetch to have another. */
export function changesRoute(app: App, ctx: ControlContext, gate: ServiceGate): void {
  const changes = new VersionChanges(ctx)
  app.get(
    '/api/v1/catalog/basemaps/:code/changes',
    {
      config: { mayTakeLong: true },
      onRequest: gate.require('read'),
      schema: {
        operationId: 'streamTileChanges',
        summary: 'List the tiles that differ between two versions',
        description:
          'Returns NDJSON with one line for each tile that was `added`, `changed` or `removed` between `from` and `to`, ordered by `z`, `x`, ' +
          '`y` (rows from the north). The gateway compares bytes, after it has unpacked vector tiles, and decodes nothing. The versions may ' +
          'use different storages, but must use the same grid (400). A token with `bounds` gets the tiles that touch them. The request returns ' +
          '403 under the same conditions as the basemap itself, 404 if a version is not served, 409 if the tiles of a version are single ' +
          `objects in object storage, and 429 while ${MAX_AT_ONCE} lists are being made, ${MAX_AT_ONCE / 2} of them for one token. A response that ends early was aborted, which happens ` +
          `after ${LIMIT_SECONDS} seconds at the latest. If the client disconnects, the comparison ends.`,
        params: z.object({ code: z.string().describe('the code, percent-encoded') }),
        querystring: querySchema,
        response: {
          200: {
            description: 'the tiles that differ, each `{z, x, y, change}`',
            content: { 'application/x-ndjson': { schema: z.unknown() } },
          },
        },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      if (!gate.grants(request, reply, { kind: 'basemap', code }, 'read')) return reply
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort(new Error('the caller has gone')))
      const area = request.serviceToken.limits?.area ?? null
      const outcome = await changes.stream({ code, ...request.query, area }, gone.signal, request.serviceToken.id)
      if ('ok' in outcome) return sendRefusal(reply, outcome)
      return reply
        .type('application/x-ndjson; charset=utf-8')
        .header('Cache-Control', 'no-store')
        .send(outcome as never)
    },
  )
}
