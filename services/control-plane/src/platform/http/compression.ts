import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import type { App } from './app-type.js'

/** Minimum bytes; for less, the additional header costs as much as compression saves. */
const WORTHWHILE = 1024

/**
 * Compresses JSON of the API before all routes, for clients that accept it, and only for GET. Plaintexts of tokens are returned only by POST, so
 * no length reveals one (BREACH). Streams of events, logs and metrics have other types, and pass unchanged.
 */
export async function registerCompression(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !route.url.startsWith('/api/')) route.compress = false
  })
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['br', 'gzip'],
    customTypes: /^application\/(?:vnd\.oai\.openapi\+)?json\b/,
    threshold: WORTHWHILE,
    // About as fast as gzip, with a smaller result.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  })
}
