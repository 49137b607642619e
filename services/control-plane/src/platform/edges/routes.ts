import { listOf } from '@gateway/contracts/common.js'
import { type EdgePresence, edgePresenceSchema } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { type MemoryListing, pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { z } from 'zod'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import type { KnownEdges } from './known-edges.js'

const EDGES = {
  searched: { host: ({ host }) => host, version: ({ version }) => version },
  sortable: {
    started_at: ({ started_at }) => started_at,
    host: ({ host }) => host,
    pid: ({ pid }) => pid,
    version: ({ version }) => version,
    seen_at: ({ seen_at }) => seen_at,
    applied_revision: ({ applied_revision }) => applied_revision,
  },
  order: 'host',
  filters: { host: ({ host }) => host },
} satisfies MemoryListing<EdgePresence>

const NO_SUCH_EDGE = refuse('not_found', coded('edge_not_found'))

export function edgeRoutes(app: App, edges: KnownEdges): void {
  app.get(
    '/api/v1/admin/edges',
    {
      schema: {
        operationId: 'listEdges',
        summary: 'List the live edge processes',
        description:
          'Returns each process of each edge, with the revision of the change log that it has applied. While the bus is unreachable, the list ' +
          'has the processes that were live when it was last reachable; `seen_at` has that time.',
        querystring: listQuery(EDGES, { host: text }),
        response: { 200: listOf(edgePresenceSchema) },
      },
    },
    async ({ query }) => pageOf(await edges.read(), EDGES, query),
  )
  app.get(
    '/api/v1/admin/edges/:id',
    {
      schema: {
        operationId: 'getEdge',
        summary: 'Get a live edge process',
        description: 'By its `id`, which the process keeps until it ends.',
        params: z.object({ id: z.string() }),
        response: { 200: edgePresenceSchema },
      },
    },
    async ({ params }, reply) =>
      (await edges.read()).find(({ id }) => id === params.id) ?? sendRefusal(reply, NO_SUCH_EDGE),
  )
}
