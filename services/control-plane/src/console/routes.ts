import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import { readBasemaps } from '@gateway/store/basemaps.js'
import { readLedger } from '@gateway/store/ledger.js'
import type { ControlContext } from '../context.js'
import type { KnownEdges } from '../edges/known-edges.js'
import type { App } from '../http/app-type.js'
import { toAdminBasemap } from '../resources/basemap.js'
import { statePage } from './state-page.js'

/** The built console, beside this service in the checkout and in the image. */
const CONSOLE_DIST = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/**
 * Everything under /admin/ stands behind the admin gate, which judges the path before any of this runs.
 * @param dist where the built console is, if it is; injected by tests alone
 */
export async function registerConsole(
  app: App,
  ctx: ControlContext,
  edges: KnownEdges,
  dist: string = CONSOLE_DIST,
): Promise<void> {
  app.get('/admin', { schema: { hide: true } }, (_request, reply) => reply.redirect('/admin/', 308))
  if (existsSync(join(dist, 'index.html'))) await serveBuiltConsole(app, dist)
  else serveStatePage(app, ctx, edges)
}

async function serveBuiltConsole(app: App, dist: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/admin/',
    // Each file becomes a route at the start, which leaves the wildcard for the pages that the console's own router knows.
    wildcard: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names under assets/ carry a hash of their content.
      if (path.includes('/assets/')) reply.header('Cache-Control', 'private, max-age=31536000, immutable')
    },
  })
  app.get('/admin/*', { schema: { hide: true } }, (_request, reply) => reply.sendFile('index.html'))
}

function serveStatePage(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.get('/admin/', { schema: { hide: true } }, async (_request, reply) => {
    const [basemaps, ledger, live] = await Promise.all([readBasemaps(ctx.sql, null), readLedger(ctx.sql), edges.read()])
    const page = statePage({ version: ctx.version, basemaps: basemaps.map(toAdminBasemap), ledger, edges: live })
    return reply.type('text/html; charset=utf-8').send(page)
  })
}
