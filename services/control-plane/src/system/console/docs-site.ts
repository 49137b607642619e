import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { COMPRESSED } from './static-files.js'

/** Serves the built documentation for anybody. Nothing of it is secret, and it loads nothing from elsewhere. */
export async function serveDocs(app: App, dist: string): Promise<void> {
  const scripts = hashesOfScripts(readFileSync(`${dist}index.html`, 'utf8'))
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => void allowWhatPagesHold(reply, scripts))
    await scope.register(fastifyStatic, {
      root: dist,
      prefix: '/docs/',
      // Each file becomes a route at the start; what is none is 404.
      wildcard: false,
      globIgnore: COMPRESSED,
      preCompressed: true,
      decorateReply: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        // Names under assets/ carry a hash of their content.
        const isHashed = path.includes('/assets/')
        reply.header('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'public, no-cache')
      },
    })
  })
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/', 308))
}

/**
 * Beyond the policy of all answers: the scripts in the head of each page, which are the same in all and set the colour scheme before anything
 * is drawn (CSP Level 3, 2.3.1: hash-source), and style attributes, which colour code. Style elements stay forbidden.
 */
function allowWhatPagesHold(reply: FastifyReply, scripts: string): void {
  const policy = String(reply.getHeader('content-security-policy'))
  const wider = policy.replace("script-src 'self'", `script-src 'self' ${scripts}`)
  reply.header('Content-Security-Policy', `${wider};style-src-attr 'unsafe-inline'`)
}

/** Of the scripts that stand in the page itself; the others are files, which the policy allows. */
function hashesOfScripts(page: string): string {
  const codes = page
    .split('<script')
    .slice(1)
    .map((tag) => tag.slice(tag.indexOf('>') + 1, tag.indexOf('</script>')))
  const hashes = codes.filter((code) => code !== '').map((code) => createHash('sha256').update(code).digest('base64'))
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ')
}
