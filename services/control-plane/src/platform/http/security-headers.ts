import helmet from '@fastify/helmet'
import type { ControlContext } from '../context.js'
import type { App } from './app-type.js'

/**
 * Sets headers that restrict what a browser does with a response. One content security policy serves JSON and the console: from elsewhere, only
 * map data of this gateway's own URLs is allowed. Workers from blobs are allowed because the map library starts its workers so.
 * HSTS is omitted, since the transport is plain HTTP; the proxy that terminates TLS adds it.
 */
export async function registerSecurityHeaders(app: App, { settings }: ControlContext): Promise<void> {
  const { tilePublicBaseUrl, vectorPublicBaseUrl, apiBaseUrl } = settings
  const own = [...new Set([tilePublicBaseUrl, vectorPublicBaseUrl, apiBaseUrl].map((url) => new URL(url).origin))]
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        fontSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:', ...own],
        connectSrc: ["'self'", ...own],
        workerSrc: ["'self'", 'blob:'],
        manifestSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false,
    // Browsers ignore these two on plain HTTP, and report that in their consoles.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
  })
}
