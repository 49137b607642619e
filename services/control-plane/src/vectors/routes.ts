import { listOf } from '@gateway/contracts/common.js'
import { adminVectorSchema } from '@gateway/contracts/vector.js'
import { readVectors, type StoredVector } from '@gateway/store/vectors.js'
import { search, searchQuery } from '../basemaps/search.js'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { toAdminVector } from '../resources/vector.js'

export function vectorRoutes(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/vectors',
    {
      schema: {
        summary: 'Vectors',
        querystring: searchQuery('code, name or relative path'),
        response: { 200: listOf(adminVectorSchema) },
      },
    },
    async ({ query }) => {
      const texts = (vector: StoredVector) => [vector.code, vector.name, vector.relativePath]
      const { page, total } = search(await readVectors(ctx.sql, null), query, texts)
      return { items: page.map((vector) => toAdminVector(vector, ctx.settings.vectorPublicBaseUrl)), total }
    },
  )
}
