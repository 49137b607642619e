import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'

/** What the build leaves in index.html where the nonce of each answer goes. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'
const NONCE_BYTES = 16

/** Serves the built application below /admin/; every address there that is no file is a page that its own router knows. */
export async function serveBuiltConsole(app: App, dist: string): Promise<void> {
  const page = readFileSync(`${dist}index.html`, 'utf8')
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/admin/',
    // Each file becomes a route at the start, which leaves the wildcard for pages.
    wildcard: false,
    index: false,
    globIgnore: ['index.html', 'map/**'],
    // The build compresses once what would otherwise be compressed for every visitor.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names under assets/ carry a hash of their content.
      if (path.includes('/assets/')) reply.header('Cache-Control', 'private, max-age=31536000, immutable')
    },
  })
  const sendPage = (_request: unknown, reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url')
    return allowStyles(reply, nonce).type('text/html; charset=utf-8').send(page.replaceAll(NONCE_PLACEHOLDER, nonce))
  }
  app.get('/admin/assets/*', { schema: { hide: true } }, (_request, reply) => sendRefusal(reply, NO_SUCH_PATH))
  app.get('/admin/', { schema: { hide: true } }, sendPage)
  app.get('/admin/*', { schema: { hide: true } }, sendPage)
}

/**
 * The one thing that the page may do beyond the policy of all answers: the component library writes style elements as it renders (theme
 * variables, responsive widths), and marks them with the nonce of this answer. Scripts are loaded from files only, without a nonce.
 */
function allowStyles(reply: FastifyReply, nonce: string): FastifyReply {
  const policy = String(reply.getHeader('content-security-policy'))
  return reply.header(
    'Content-Security-Policy',
    policy.replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`),
  )
}
