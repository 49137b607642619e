import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { StaticSite } from './static-site.js'

/** Parts of the built documentation that responses need besides its files. */
interface Parts {
  /** Sources for the content security policy: hashes of the inline scripts. */
  readonly scripts: string
  readonly notFound: string
}

/**
 * Serves the built documentation without authentication. It contains no secrets, and loads nothing from elsewhere.
 * @param notBuilt response while the documentation is not built; an installation may lack it
 */
export function serveDocs(app: App, dist: string, notBuilt: Refusal): void {
  const site = new StaticSite(dist)
  let parts: Parts | null = null
  app.get('/docs/*', { config: { mayTakeLong: true }, schema: { hide: true } }, async (request, reply) => {
    const names = await site.names()
    if (names === null) return sendRefusal(reply, notBuilt)
    parts ??= {
      scripts: hashesOfScripts(readFileSync(`${dist}index.html`, 'utf8')),
      notFound: readFileSync(`${dist}404.html`, 'utf8'),
    }
    allowWhatPagesHold(reply, parts.scripts)
    const path = (request.params as { '*': string })['*']
    const file = /(^|\/)$/.test(path) ? `${path}index.html` : path
    if (names.has(file)) return sendFile(reply, file, dist)
    const page = pageFor(names, path)
    return page === null ? sendNotFound(request, reply, parts.notFound) : reply.redirect(`/docs/${page}`, 308)
  })
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/', 308))
}

function sendFile(reply: FastifyReply, file: string, dist: string): FastifyReply {
  // Names under assets/ contain a hash of their content.
  const isHashed = file.startsWith('assets/')
  reply.header('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'public, no-cache')
  return reply.sendFile(file, dist)
}

/** Returns the path below /docs/ of the page that `path` names without its extension, or with a final slash; null if no page has that name. */
function pageFor(names: ReadonlySet<string>, path: string): string | null {
  const name = path.replace(/\/$/, '')
  const found = ['.html', '/index.html', '/README.html', '.txt']
    .map((ending) => `${name}${ending}`)
    .concat(path === name ? [] : [name])
    .find((file) => /\.(html|txt)$/.test(file) && names.has(file))
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
