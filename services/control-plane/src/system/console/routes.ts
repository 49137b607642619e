import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import { LIVE_TOPICS } from '@gateway/contracts/console.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  edgeTrafficSchema,
  TRAFFIC_RANGES,
  type TrafficRange,
  trafficHistorySchema,
} from '@gateway/contracts/traffic.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { EventStreams } from '../../platform/http/event-streams.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { serveDocs } from './docs-site.js'
import { keepTraffic, readKeptTraffic } from './kept-traffic.js'
import { Live } from './live.js'
import { previewTokenRoute } from './preview-token.js'
import { settingsRoute } from './settings-view.js'
import { serveBuiltConsole } from './static-files.js'
import { StaticSite } from './static-site.js'
import { EDGE_RANGES, SAMPLE_MS, TrafficHistory } from './traffic-history.js'

/** The built console, next to this service in the checkout and in the image. */
const CONSOLE_DIST = fileURLToPath(new URL('../../../../console/dist/', import.meta.url))

/** The built documentation, which an installation may lack. */
const DOCS_DIST = fileURLToPath(new URL('../../../../tools/docs/dist/', import.meta.url))

const NOT_BUILT = refuse('not_found', coded('console_not_built'))
const NO_DOCS = refuse('not_found', coded('docs_not_built'))

const RANGES = Object.keys(TRAFFIC_RANGES) as TrafficRange[]
const NO_SUCH_EDGE = refuse('not_found', coded('edge_not_found'))

/** Interval of signs of life, so that consoles notice a dead connection within three seconds without requests. */
const ALIVE_EVERY_MS = 1_000

/** Registers the console. Everything under /admin/ is behind the admin gate, which judges the path first. /map/ and /docs/ are public. */
export async function registerConsole(app: App, ctx: ControlContext, edges: KnownEdges): Promise<void> {
  previewTokenRoute(app, ctx)
  settingsRoute(app, ctx)
  stateRoutes(app, ctx, edges)
  app.get('/admin', { schema: { hide: true } }, (_request, reply) => reply.redirect('/admin/', 308))
  await app.register(fastifyStatic, { serve: false, preCompressed: true, cacheControl: false })
  serveDocs(app, DOCS_DIST, NO_DOCS)
  serveBuiltConsole(app, CONSOLE_DIST, NOT_BUILT)
  serveMapPage(app, CONSOLE_DIST, NOT_BUILT)
}

function stateRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  let history = new TrafficHistory(ctx.now())
  const live = new Live(ctx, edges, () => history)
  const streams = new EventStreams(app)
  app.addHook('onListen', async () => {
    history = new TrafficHistory(ctx.now(), await readKeptTraffic(ctx.settings.dataDir))
    void sampleTraffic(ctx, edges, history)
  })
  app.get(
    '/api/v1/admin/dashboard/traffic',
    {
      schema: {
        operationId: 'getTraffic',
        summary: 'Get the traffic of the last hour, day, week or month',
        description:
          'Returns the traffic of all edge processes, in spans of half a minute, ten minutes, an hour or four hours, and the present state of ' +
          'each process. The answering control plane collects it and keeps it over a restart; a metrics system that scrapes `/metrics` has ' +
          'more detail.',
        querystring: z.strictObject({ range: z.enum(RANGES).default('hour') }),
        response: { 200: trafficHistorySchema },
      },
    },
    ({ query }) => history.view(query.range),
  )
  app.get(
    '/api/v1/admin/edges/:id/traffic',
    {
      schema: {
        operationId: 'getEdgeTraffic',
        summary: 'Get the traffic of one edge process in the last hour or day',
        description:
          'Returns amounts, latency and memory in spans of half a minute, or of ten minutes for a day, as the answering control plane has ' +
          'collected them. A process that has ended, or that reports no counters, returns 404.',
        params: z.object({ id: z.string() }),
        querystring: z.strictObject({ range: z.enum(EDGE_RANGES).default('hour') }),
        response: { 200: edgeTrafficSchema },
      },
    },
    async ({ params, query }, reply) => history.edge(params.id, query.range) ?? sendRefusal(reply, NO_SUCH_EDGE),
  )
  app.get(
    '/api/v1/admin/dashboard/live',
    {
      exposeHeadRoute: false,
      config: { mayTakeLong: true },
      schema: {
        operationId: 'streamLiveTopics',
        summary: 'Stream the topics of the console whose data have changed',
        description:
          'Server-sent events. `watching` comes once; from then on no change is missed. Then `touched` comes at most once a second; its data ' +
          `is a list of topics (${LIVE_TOPICS.join(', ')}). Read the data of these topics after every event of either kind. \`traffic\` brings ` +
          'the newest point of the last hour and the present state of each edge process, as `getTraffic` has them. `alive` comes every second: ' +
          'a stream that is silent for longer is dead, even if its connection is open.',
        response: { 200: { description: 'events', content: { 'text/event-stream': { schema: z.unknown() } } } },
      },
    },
    (_request, reply) =>
      streams.answer(reply, (send) => {
        const unlisten = live.listen(
          (topics) => {
            send({ event: 'touched', data: topics })
            if (topics.includes('traffic')) send({ event: 'traffic', data: history.newest() })
          },
          () => send({ event: 'watching', data: null }),
        )
        const beat = setInterval(() => send({ event: 'alive', data: null }), ALIVE_EVERY_MS).unref()
        return () => {
          clearInterval(beat)
          unlisten()
        }
      }),
  )
}

/** Number of samples between two writes. A killed process loses so much of its history, but no counts, since edges keep counting. */
const KEEP_EVERY_SAMPLES = 6

async function sampleTraffic(ctx: ControlContext, edges: KnownEdges, history: TrafficHistory): Promise<void> {
  const keep = () =>
    keepTraffic(ctx.settings.dataDir, history.kept()).catch((error: Error) =>
      ctx.log.debug({ err: error.message }, 'the traffic of the last hour cannot be stored'),
    )
  while (!ctx.shutdown.aborted) {
    history.sample(edges.lastKnown, ctx.now())
    if (history.samples % KEEP_EVERY_SAMPLES === 0) await keep()
    await sleep(SAMPLE_MS, undefined, { signal: ctx.shutdown, ref: false }).catch(() => {})
  }
  await keep()
}

/**
 * Serves the page of the first map, and the map library under fixed names for any page: `/map/maplibre-gl.mjs` with its worker, and
 * `/map/maplibre-gl.css`. They contain no secrets. Browsers revalidate them at each use, so that library and worker have the same version.
 * @param dist the folder of the built console
 * @param notBuilt response while the console is not built
 */
export function serveMapPage(app: App, dist: string, notBuilt: Refusal): void {
  const site = new StaticSite(dist)
  app.get('/map/*', { config: { mayTakeLong: true }, schema: { hide: true } }, async ({ params }, reply) => {
    const names = await site.names()
    if (names === null) return sendRefusal(reply, notBuilt)
    const path = `map/${(params as { '*': string })['*'] || 'index.html'}`
    if (!names.has(path)) return sendRefusal(reply, NO_SUCH_PATH)
    reply.header('Cache-Control', 'public, no-cache')
    reply.header('Access-Control-Allow-Origin', '*')
    reply.header('Cross-Origin-Resource-Policy', 'cross-origin')
    return reply.sendFile(path, dist)
  })
  app.get('/map', { schema: { hide: true } }, (_request, reply) => reply.redirect('/map/', 308))
}
