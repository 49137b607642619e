import type { App } from '../../platform/http/app-type.js'

const PREFIX = '/api/v1/catalog/'
/** Allowed methods for unknown paths. */
const READING = 'GET, HEAD, OPTIONS'
/** A day; browsers cap it at two hours or less. */
const MAX_AGE_SECONDS = 86_400

/** True if a preflight of this path gets a response. */
export function hasOpenCors(path: string): boolean {
  return path.startsWith(PREFIX)
}

/**
 * Opens the read interface to pages of any origin, for refusals too, so that a page learns the reason. The browser's own credentials are not
 * allowed (no Allow-Credentials): a page sends its token itself. A preflight needs no token.
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
      .header(
        'Access-Control-Allow-Headers',
        'Authorization, X-Access-Token, If-Match, If-None-Match, Content-Type, Accept',
      )
      .header('Access-Control-Max-Age', String(MAX_AGE_SECONDS))
      .header('Allow', methods)
      .code(204)
      .send()
  })
}
