import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { forgetBasemap, forgetRecord, forgetSource } from './forget.js'
import { byCode, byVersion, CONFIRMED } from './route-parts.js'

const FORGET = `Deletes the record and keeps the files. If a scan finds the files again, the item comes back and is not withdrawn. ${CONFIRMED}`
const FORGET_LAYER =
  `${FORGET} With \`files=true\` the files of versions that were sliced here are deleted too. The request returns 400 if such files do not ` +
  'exist, and 409 while a scan runs or a slice job of the layer has not ended.'

const filesQuery = z.object({
  files: z
    .enum(['true', 'false'])
    .optional()
    .describe('true to delete the files that were sliced here; default: false'),
})
const response = {
  200: z.object({
    ...acknowledgementFields,
    files: z.int().min(0).describe('number of versions whose files were deleted'),
  }),
}
/** Each route waits for edges, for at most TOKEN_STALE_SECONDS. */
const config = { mayTakeLong: true }

/** Deletes records of the catalog. */
export function forgetRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.delete(
    '/api/v1/admin/basemaps/:code',
    {
      config,
      schema: {
        operationId: 'deleteBasemap',
        summary: 'Forget a basemap with all of its versions',
        description: FORGET_LAYER,
        params: byCode,
        querystring: filesQuery,
        response,
      },
    },
    async ({ params, query, admin }, reply) => {
      const of = { code: params.code, version: null }
      const outcome = await forgetBasemap(ctx, edges, of, query.files === 'true', admin)
      return outcome.ok ? outcome : sendRefusal(reply, outcome)
    },
  )
  app.delete(
    '/api/v1/admin/basemaps/:code/versions/:version',
    {
      config,
      schema: {
        operationId: 'deleteBasemapVersion',
        summary: 'Forget a version of a basemap',
        description: FORGET_LAYER,
        params: byVersion,
        querystring: filesQuery,
        response,
      },
    },
    async ({ params, query, admin }, reply) => {
      const outcome = await forgetBasemap(ctx, edges, params, query.files === 'true', admin)
      return outcome.ok ? outcome : sendRefusal(reply, outcome)
    },
  )
  app.delete(
    '/api/v1/admin/vectors/:code',
    {
      config,
      schema: {
        operationId: 'deleteVector',
        summary: 'Forget a vector',
        description: FORGET,
        params: byCode,
        response,
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await forgetRecord(ctx, edges, 'vector', params.code, admin)
      return outcome.ok ? outcome : sendRefusal(reply, outcome)
    },
  )
  app.delete(
    '/api/v1/admin/scan-sources/:code',
    {
      config,
      schema: {
        operationId: 'deleteScanSource',
        summary: 'Forget a scan source with everything that was found in it',
        description:
          `${FORGET} The request returns 409 while a scan runs. The source of sliced layers cannot be deleted (409). A source that ` +
          'BASEMAP_ROOTS or VECTOR_ROOTS names comes back at the next start of the control plane.',
        params: byCode,
        response,
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await forgetSource(ctx, edges, params.code, admin)
      return outcome.ok ? outcome : sendRefusal(reply, outcome)
    },
  )
}
