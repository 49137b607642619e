import { comparisonSchema } from '@gateway/contracts/comparison.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { byCode } from '../edit/route-parts.js'
import { LIMIT_SECONDS, MAX_AT_ONCE, MAX_COMPARED, VersionComparer } from './compare-versions.js'

const MAX_ZOOM = 30
const zoom = z.coerce.number().int().min(0).max(MAX_ZOOM)
const querySchema = z.strictObject({
  left: z.string().min(1).describe('the label of a version'),
  right: z.string().min(1).describe('the label of another'),
  zoom_min: zoom.default(0),
  zoom_max: zoom.default(MAX_ZOOM),
})

export function compareRoutes(app: App, ctx: ControlContext): void {
  const comparer = new VersionComparer(ctx)
  app.get(
    '/api/v1/admin/basemaps/:code/comparison',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'compareVersions',
        summary: 'Compare the tiles of two versions',
        description:
          'Lists the tiles whose bytes differ and the tiles that only one version has. The comparison covers the zooms that at least one ' +
          'version has, between `zoom_min` and `zoom_max`, and the bounds of both versions. Vector tiles are unpacked first. The gateway ' +
          `compares at most ${MAX_COMPARED} tiles, and each zoom has a share of them. If a zoom has more tiles, the gateway compares a regular ` +
          `grid of them (\`step\`). After ${LIMIT_SECONDS} seconds it returns what it has found so far. If equal pixels were encoded ` +
          'differently, their bytes differ. The request returns 409 for versions that have different grids, are not available, or lie in ' +
          `object storage, and 429 while ${MAX_AT_ONCE} comparisons are being made. If the client disconnects, the comparison ends.`,
        params: byCode,
        querystring: querySchema,
        response: { 200: comparisonSchema },
      },
    },
    async ({ params, query }, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort(new Error('the caller has gone')))
      const compared = await comparer.compare(params.code, query, AbortSignal.any([ctx.shutdown, gone.signal]))
      return 'ok' in compared ? sendRefusal(reply, compared) : compared
    },
  )
}
