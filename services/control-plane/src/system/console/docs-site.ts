import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { COMPRESSED } from './static-files.js'

/** Serves the built documentation without authentication. It contains no secrets, and loads nothing from elsewhere. */
export async function serveDocs(app: App, dist: string): Promise<void> {
  const scripts = hashesOfScripts(readFileSync(`${dist}index.html`, 'utf8'))
  const notFound = readFileSync(`${dist}404.html`, 'utf8')
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => void allowWhatPagesHold(reply, scripts))
    await scope.register(fastifyStatic, {
      root: dist,
      prefix: '/docs/',
      // Each file becomes a route at the start. The route below handles all other paths.
      wildcard: false,
      globIgnore: COMPRESSED,
      preCompressed: true,
      decorateReply: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        // Names under assets/ contain a hash of their content.
        const isHashed = path.includes('/assets/')
        reply.header('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'public, no-cache')
      },
    })
    scope.get('/docs/*', { schema: { hide: true } }, (request, reply) => {
      const page = pageFor(dist, (request.params as { '*': string })['*'])
      return page === null ? sendNotFound(request, reply, notFound) : reply.redirect(`/docs/${page}`, 308)
    })
  })
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/', 308))
}

/** Returns the path below /docs/ of the page that `path` names without its extension, or with a final slash; null if no page has that name. */
function pageFor(dist: string, path: string): string | null {
  const name = path.replace(/\/$/, '')
  // A path with an empty segment or with dots is not the name of a page.
  if (!/^[\w-]+(?:[./][\w-]+)*$/.test(name)) return null
  const found = ['.html', '/index.html', '/README.html', '.txt']
    .map((ending) => `${name}${ending}`)
    .concat(path === name ? [] : [name])
    .find((file) => /\.(html|txt)$/.test(file) && existsSync(`${dist}${file}`))
  return found === undefined ? null : found.replace(/(^|\/)index\.html$/, '$1')
}

/** Sends browsers a page that leads back into the documentation, and programs the body of every error. */
function sendNotFound({ headers }: FastifyRequest, reply: FastifyReply, page: string): FastifyReply {
  reply.header('Cache-Control', 'no-store').header('Vary', 'Accept')
  if (!headers.accept?.includes('text/html')) return sendRefusal(reply, NO_SUCH_PATH)
  return reply.code(404).type('text/html; charset=utf-8').send(page)
}

/**
 * Extends the common policy by the scripts in the head of each page, which set the colour scheme before the page is drawn and are the same everywhere
 * (CSP Level 3, 2.3.1: hash-source), and by style attributes, which colour code. Style elements stay forbidden.
 */
function allowWhatPagesHold(reply: FastifyReply, scripts: string): void {
  const policy = String(reply.getHeader('content-security-policy'))
  const wider = policy.replace("script-src 'self'", `script-src 'self' ${scripts}`)
  reply.header('Content-Security-Policy', `${wider};style-src-attr 'unsafe-inline'`)
}

/** Returns hashes of inline scripts. The policy already allows scripts in files. */
function hashesOfScripts(page: string): string {
  const codes = page
    .split('<script')
    .slice(1)
    .map((tag) => tag.slice(tag.indexOf('>') + 1, tag.indexOf('</script>')))
  const hashes = codes.filter((code) => code !== '').map((code) => createHash('sha256').update(code).digest('base64'))
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ')
}
