import type { Refusal } from '@gateway/contracts/errors.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { StaticSite } from './static-site.js'

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
