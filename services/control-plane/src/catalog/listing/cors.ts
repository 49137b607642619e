import type { App } from '../../platform/http/app-type.js'

const PREFIX = '/api/v1/catalog/'
/** Of an address that is not there. */
const READING = 'GET, HEAD, OPTIONS'
/** A day; browsers cap it at two hours or less. */
const MAX_AGE_SECONDS = 86_400

/** Whether a preflight of this path is answered. */
export function hasOpenCors(path: string): boolean {
  return path.startsWith(PREFIX)
}

/**
 * Opens the read interface to pages of any origin, on refusals too, so that a page learns why. No credentials of the browser's own are
 * let in (no Allow-Credentials): a page shows the token that it holds. The preflight is answered before any token is asked for.
 */
export function registerOpenCors(app: App): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!hasOpenCors(request.raw.url ?? '')) return
    reply.header('Access-Control-Allow-Origin', '*')
    reply.header('Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate')
    reply.header('Cross-Origin-Resource-Policy', 'cross-origin')
    if (request.method !== 'OPTIONS') return
    const methods = request.routeOptions.config.allow ?? READING
    return reply
      .header('Access-Control-Allow-Methods', methods)
      .header('Access-Control-Allow-Headers', 'Authorization, X-Access-Token, Content-Type, Accept')
      .header('Access-Control-Max-Age', String(MAX_AGE_SECONDS))
      .header('Allow', methods)
      .code(204)
      .send()
  })
}
