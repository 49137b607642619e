import { listOf } from '@gateway/contracts/common.js'
import { edgePresenceSchema } from '@gateway/contracts/edge.js'
import type { App } from '../http/app-type.js'
import type { KnownEdges } from './known-edges.js'

export function edgeRoutes(app: App, edges: KnownEdges): void {
  app.get(
    '/api/v1/admin/edges',
    {
      schema: {
        summary: 'Edge processes that are alive',
        description:
          'Each process of each edge, with the revision of the change log that it has applied. While the bus is out of reach, those that ' +
          'were alive when it was last in reach; `seen_at` tells how long ago.',
        response: { 200: listOf(edgePresenceSchema) },
      },
    },
    async () => {
      const items = [...(await edges.read())]
      return { items, total: items.length }
    },
  )
}
