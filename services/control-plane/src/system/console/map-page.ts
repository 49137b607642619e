import fastifyStatic from '@fastify/static'
import type { App } from '../../platform/http/app-type.js'
import { COMPRESSED } from './static-files.js'

/**
 * Serves the page of the first map, and the map library under fixed names for any page: `/map/maplibre-gl.mjs` with its worker, and
 * `/map/maplibre-gl.css`. They contain no secrets. Browsers revalidate them at each use, so that library and worker have the same version.
 */
export async function serveMapPage(app: App, dist: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/map/',
    wildcard: false,
    globIgnore: COMPRESSED,
    preCompressed: true,
    decorateReply: false,
    cacheControl: false,
    setHeaders: (reply) => {
      reply.header('Cache-Control', 'public, no-cache')
      reply.header('Access-Control-Allow-Origin', '*')
      reply.header('Cross-Origin-Resource-Policy', 'cross-origin')
    },
  })
  app.get('/map', { schema: { hide: true } }, (_request, reply) => reply.redirect('/map/', 308))
}
