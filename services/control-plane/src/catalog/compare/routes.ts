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
        summary: 'Which tiles differ between two versions',
        description:
          'Of the zooms that either version has, between `zoom_min` and `zoom_max`, and of the bounds of both: where the bytes of a tile differ, and where ' +
          `only one of the two has a tile; vector tiles are unpacked before. At most ${MAX_COMPARED} addresses are looked at, each zoom has its share; of a zoom ` +
          `with more a regular grid (\`step\`). After ${LIMIT_SECONDS} seconds it answers with what it has. Equal pixels that were encoded anew differ in bytes. ` +
          `409 for versions of different grids, that are not available, or in object storage; 429 where ${MAX_AT_ONCE} comparisons are being made. ` +
          'A caller that hangs up ends its comparison.',
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
