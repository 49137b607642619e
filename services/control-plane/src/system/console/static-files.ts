import { readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { allowStyles, newNonce } from '../../platform/http/style-nonce.js'
import { firstData } from './first-data.js'

/** Placeholder in the built index.html for the nonce of each response. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

/** Placeholder for the first data of a page: a data block, which no browser executes. */
const DATA_PLACEHOLDER = '{"first":"data"}'

/** Compressed variants, sent instead of the files whose names they extend. They get no routes, since each would cost every start half a millisecond. */
export const COMPRESSED = ['**/*.br', '**/*.gz']

/** Serves the built application below /admin/. Any path there that is not a file is a page of the application's router. */
export async function serveBuiltConsole(app: App, dist: string): Promise<void> {
  const page = readFileSync(`${dist}index.html`, 'utf8')
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/admin/',
    // Each file becomes a route at the start, which leaves the wildcard for pages.
    wildcard: false,
    index: false,
    globIgnore: ['index.html', 'map/**', ...COMPRESSED],
    // The build compresses files once, instead of for every visitor.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names under assets/ contain a hash of their content.
      if (path.includes('/assets/')) reply.header('Cache-Control', 'private, max-age=31536000, immutable')
    },
  })
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const data = await firstData(app, request)
    const nonce = newNonce()
    // The component library writes style elements at rendering (theme variables, responsive widths), and marks them with the nonce. Scripts
    // come only from files, without a nonce.
    return allowStyles(reply, nonce)
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(NONCE_PLACEHOLDER, nonce).replace(DATA_PLACEHOLDER, () => data))
  }
  app.get('/admin/assets/*', { schema: { hide: true } }, (_request, reply) => sendRefusal(reply, NO_SUCH_PATH))
  app.get('/admin/', { schema: { hide: true } }, sendPage)
  app.get('/admin/*', { schema: { hide: true } }, sendPage)
}
