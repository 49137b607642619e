import { refuse } from '@gateway/contracts/errors.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { isStoreUp } from './store-probe.js'

const systemSchema = z.object({
  service: z.literal('map-asset-gateway'),
  version: z.string(),
  api_base_url: z.string(),
  tile_base_url: z.string(),
  vector_base_url: z.string(),
  basemap_roots: z.array(z.string()),
  vector_roots: z.array(z.string()),
  slice_output_root: z.string(),
  slice_source_roots: z.array(z.string()),
})

const healthSchema = z.object({ status: z.literal('ok') })

const readySchema = z.object({
  status: z.literal('ready'),
  store: z.literal('up'),
  bus: z.enum(['up', 'down']).describe('down: edges learn of changes by polling the store, within a second or so'),
  bus_medium: z.enum(['redis', 'postgres']),
})

export function systemRoutes(app: App, ctx: ControlContext): void {
  const { settings, metrics } = ctx
  app.get(
    '/health',
    { schema: { summary: 'Liveness probe', response: { 200: healthSchema } } },
    () => ({ status: 'ok' }) as const,
  )
  app.get(
    '/ready',
    {
      config: { isProbe: true },
      schema: {
        summary: 'Readiness probe',
        description:
          '503 while the store is out of reach, while the configured directories are scanned for the first time (10 seconds at most), and ' +
          'when the process shuts down. A bus that is out of reach is told, but takes nobody out of ' +
          'service: it only makes things faster, and administrators need the service most when something is down.',
        response: { 200: readySchema },
      },
    },
    async (_request, reply) => {
      if (ctx.shutdown.aborted) return sendRefusal(reply, refuse('draining', 'this process is shutting down'))
      if (!(await isStoreUp(ctx.sql))) return sendRefusal(reply, refuse('dependency_down', 'the store is out of reach'))
      if (!ctx.firstScans.over) return sendRefusal(reply, refuse('dependency_down', 'the first scans are under way'))
      // On Postgres the bus is the store, which has just answered.
      const up = ctx.bus.medium === 'postgres' || ctx.bus.connected
      return { status: 'ready', store: 'up', bus: up ? 'up' : 'down', bus_medium: ctx.bus.medium } as const
    },
  )
  app.get(
    '/metrics',
    {
      schema: {
        summary: 'Metrics of the answering process',
        description: 'Prometheus text format. At the address of the edge: those of the edge processes of that host.',
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
    { schema: { summary: 'Version, public addresses and configured directories', response: { 200: systemSchema } } },
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
