import { readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { allowStyles, newNonce } from '../../platform/http/style-nonce.js'
import { firstData } from './first-data.js'

/** What the build leaves in index.html where the nonce of each answer goes. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

/** Where what the page reads first goes: a block of data, which no browser executes. */
const DATA_PLACEHOLDER = '{"first":"data"}'

/** Files that are sent in place of those whose names they extend. They get no routes of their own: each would cost every start half a millisecond. */
export const COMPRESSED = ['**/*.br', '**/*.gz']

/** Serves the built application below /admin/; every address there that is no file is a page that its own router knows. */
export async function serveBuiltConsole(app: App, dist: string): Promise<void> {
  const page = readFileSync(`${dist}index.html`, 'utf8')
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/admin/',
    // Each file becomes a route at the start, which leaves the wildcard for pages.
    wildcard: false,
    index: false,
    globIgnore: ['index.html', 'map/**', ...COMPRESSED],
    // The build compresses once what would otherwise be compressed for every visitor.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names under assets/ carry a hash of their content.
      if (path.includes('/assets/')) reply.header('Cache-Control', 'private, max-age=31536000, immutable')
    },
  })
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const data = await firstData(app, request)
    const nonce = newNonce()
    // The component library writes style elements as it renders (theme variables, responsive widths), and marks them with the nonce. Scripts
    // are loaded from files only, without one.
    return allowStyles(reply, nonce)
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(NONCE_PLACEHOLDER, nonce).replace(DATA_PLACEHOLDER, () => data))
  }
  app.get('/admin/assets/*', { schema: { hide: true } }, (_request, reply) => sendRefusal(reply, NO_SUCH_PATH))
  app.get('/admin/', { schema: { hide: true } }, sendPage)
  app.get('/admin/*', { schema: { hide: true } }, sendPage)
}
