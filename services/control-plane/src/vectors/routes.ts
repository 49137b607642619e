import { listOf } from '@gateway/contracts/common.js'
import { adminVectorSchema } from '@gateway/contracts/vector.js'
import { readVectors } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { toAdminVector } from '../resources/vector.js'

export function vectorRoutes(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/vectors',
    {
      schema: {
        summary: 'Vectors',
        querystring: z.object({ q: z.string().max(200).optional().describe('part of a code, name or relative path') }),
        response: { 200: listOf(adminVectorSchema) },
      },
    },
    async ({ query }) => {
      const wanted = (query.q ?? '').toLowerCase()
      const items = (await readVectors(ctx.sql, null))
        .filter(({ code, name, relativePath }) => `${code}\n${name}\n${relativePath}`.toLowerCase().includes(wanted))
        .map((vector) => toAdminVector(vector, ctx.settings.vectorPublicBaseUrl))
      return { items, total: items.length }
    },
  )
}
