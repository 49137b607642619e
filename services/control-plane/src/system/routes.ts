import { refuse } from '@gateway/contracts/errors.js'
import { systemSchema } from '@gateway/contracts/health.js'
import { coded } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { backlogMetrics, connectionMetric } from './backlog-metrics.js'
import { StoreHealth } from './store-health.js'

const healthSchema = z.object({ status: z.literal('ok') })

const readySchema = z.object({
  status: z.literal('ready'),
  store: z.literal('up').optional(),
  bus: z
    .enum(['up', 'down'])
    .optional()
    .describe('down: edges find changes by polling the store, within about a second'),
  bus_medium: z.enum(['redis', 'postgres']).optional(),
})

export function systemRoutes(app: App, ctx: ControlContext): void {
  const { settings, metrics } = ctx
  const health = new StoreHealth(ctx.sql, ctx.shutdown)
  backlogMetrics(ctx, health)
  connectionMetric(app, ctx)
  app.addHook('onResponse', async ({ trouble }) => {
    if (trouble !== undefined) health.note(trouble)
  })
  app.get(
    '/health',
    {
      schema: {
        operationId: 'getHealth',
        summary: 'Liveness probe',
        description: 'Succeeds as long as the process responds; it checks no dependency.',
        response: { 200: healthSchema },
      },
    },
    () => ({ status: 'ok' }) as const,
  )
  app.get(
    '/ready',
    {
      config: { isProbe: true },
      schema: {
        operationId: 'getReadiness',
        summary: 'Readiness probe',
        description:
          'The response of an edge has only `status`. Returns 503 while the store is unreachable or cannot be written (its disk is full, it is ' +
          'a replica), and while the configured directories are scanned for the first time (10 seconds at most). After SIGTERM it returns 503 ' +
          'for DRAIN_NOTICE_SECONDS before connections are refused. An unreachable bus is reported, but does not make the process unready: the ' +
          'bus only makes things faster, and administrators need the service most during an outage.',
        response: { 200: readySchema },
      },
    },
    async (_request, reply) => {
      if (ctx.notice.aborted) return sendRefusal(reply, refuse('draining', coded('shutting_down')))
      const trouble = await health.trouble()
      if (trouble !== null) return sendRefusal(reply, refuse('dependency_down', trouble))
      const { outstanding } = ctx.readiness
      if (outstanding !== null) return sendRefusal(reply, refuse('dependency_down', outstanding))
      // On Postgres the bus is the store, which has just responded.
      const up = ctx.bus.medium === 'postgres' || ctx.bus.connected
      return { status: 'ready', store: 'up', bus: up ? 'up' : 'down', bus_medium: ctx.bus.medium } as const
    },
  )
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Get the metrics of the answering process',
        description:
          'Prometheus text format. At the address of the edge, the response has the metrics of the edge processes of that host.',
        response: { 200: { description: 'metrics', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (_request, reply) =>
      reply
        .type(metrics.registry.contentType)
        .serializer((text: string) => text)
        .send(await metrics.registry.metrics()),
  )
  app.get(
    '/api/v1/system',
    {
      schema: {
        operationId: 'getSystem',
        summary: 'Get the version, public addresses and configured directories',
        description: 'The settings that a client needs, without secrets.',
        response: { 200: systemSchema },
      },
    },
    () => ({
      service: 'map-asset-gateway' as const,
      version: ctx.version,
      api_base_url: settings.apiBaseUrl,
      tile_base_url: settings.tilePublicBaseUrl,
      vector_base_url: settings.vectorPublicBaseUrl,
      basemap_roots: [...settings.basemapRoots],
      vector_roots: [...settings.vectorRoots],
      slice_output_root: settings.sliceOutputRoot,
      slice_source_roots: [...settings.sliceSourceRoots],
    }),
  )
}
