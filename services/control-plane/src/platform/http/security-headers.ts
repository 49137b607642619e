import helmet from '@fastify/helmet'
import type { ControlContext } from '../context.js'
import type { App } from './app-type.js'

/**
 * Headers that keep a browser from doing more with an answer than it should. One content security policy serves JSON and the console:
 * nothing from elsewhere but map data of this gateway's own addresses; workers from blobs because the map library starts its own so.
 * No HSTS, since the transport is plain HTTP; the proxy that terminates TLS adds it.
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
    // Browsers ignore these two on plain HTTP and say so in their consoles.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
  })
}
