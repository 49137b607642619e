import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import type { App } from './app-type.js'

/** Minimum bytes; for less, the additional header costs as much as compression saves. */
const WORTHWHILE = 1024

/** The API, and the console's page with the data that it reads first; its other files are compressed by the build. */
const COMPRESSED = /^\/api\/|^\/admin\/\*?$/

/**
 * Compresses JSON of the API and the console's page for clients that accept it, before all routes. Only responses to GET are compressed: plaintexts
 * of tokens are returned only to POST, so that the length of a response does not reveal one (BREACH). Streams of events, logs and metrics have other
 * types and are sent as they are written.
 */
export async function registerCompression(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !COMPRESSED.test(route.url)) route.compress = false
  })
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['br', 'gzip'],
    customTypes: /^(?:application\/(?:vnd\.oai\.openapi\+)?json|text\/html)\b/,
    threshold: WORTHWHILE,
    // About as fast as gzip, with a smaller result.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  })
}
