import { readFileSync } from 'node:fs'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_PATH } from '../../platform/http/error-answers.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { allowStyles, newNonce } from '../../platform/http/style-nonce.js'
import { firstData } from './first-data.js'
import { StaticSite } from './static-site.js'

/** Placeholder in the built index.html for the nonce of each response. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

/** Placeholder for the first data of a page: a data block, which no browser executes. */
const DATA_PLACEHOLDER = '{"first":"data"}'

/**
 * Serves the built application below /admin/. Any path there that is not a file is a page of the application's router.
 * @param notBuilt response while the application is not built
 */
export function serveBuiltConsole(app: App, dist: string, notBuilt: Refusal): void {
  const site = new StaticSite(dist)
  let page: string | null = null
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    page ??= readFileSync(`${dist}index.html`, 'utf8')
    const text = page
    const data = await firstData(app, request)
    const nonce = newNonce()
    // The component library writes style elements at rendering (theme variables, responsive widths), and marks them with the nonce. Scripts
    // come only from files, without a nonce.
    return allowStyles(reply, nonce)
      .type('text/html; charset=utf-8')
      .send(text.replaceAll(NONCE_PLACEHOLDER, nonce).replace(DATA_PLACEHOLDER, () => data))
  }
  app.get('/admin/*', { config: { mayTakeLong: true }, schema: { hide: true } }, async (request, reply) => {
    const names = await site.names()
    if (names === null) return sendRefusal(reply, notBuilt)
    const name = (request.params as { '*': string })['*']
    // The files of the map page have their own URLs.
    const isFile = names.has(name) && name !== 'index.html' && !name.startsWith('map/')
    const isAsset = name.startsWith('assets/')
    if (!isFile) return isAsset ? sendRefusal(reply, NO_SUCH_PATH) : sendPage(request, reply)
    // Names under assets/ contain a hash of their content.
    if (isAsset) reply.header('Cache-Control', 'private, max-age=31536000, immutable')
    return reply.sendFile(name, dist)
  })
}
