import type { ClientAddress } from '@gateway/access/client-address.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { isAdminRequest } from './admin-path.js'
import { Attempts } from './attempts.js'
import type { FindCaller } from './caller.js'
import { challenge, checkCredentials } from './credentials.js'
import { isCrossSite } from './cross-site.js'
import { knownHosts } from './host-rule.js'

const REMOTE_OFF = refuse(
  'admin_remote_off',
  'admin routes answer this machine alone; ADMIN_ALLOW_REMOTE=true opens them to other hosts',
)
const HOST_UNKNOWN = refuse(
  'admin_host_unknown',
  'the Host of this request is not a name of this service; list it in ADMIN_HOSTS to use it for administration',
)
const CROSS_SITE = refuse('cross_site', 'this change was requested by a page of another origin')
const TOO_MANY = refuse(
  'too_many_requests',
  'too many wrong admin credentials from this address; wait before the next try',
)

/**
 * Protects every admin route, and every unknown path that looks like one. In this order: remote callers while remote administration is off
 * (403), a Host that is not ours (403), a change that a foreign page requests (403), too many wrong guesses (429), credentials (401).
 */
export function registerAdminGate(app: App, ctx: ControlContext, findCaller: FindCaller): void {
  const { settings, metrics } = ctx
  const isKnownHost = knownHosts(settings)
  const attempts = new Attempts(() => performance.now())

  app.decorateRequest('admin')
  app.addHook('onRequest', async (request, reply) => {
    if (!isAdminRequest(request.routeOptions.url, request.raw.url ?? '')) return
    const caller = findCaller({ peer: request.socket.remoteAddress ?? '', headers: request.headers })
    const refusal = refusalOfPlace(request, caller) ?? refusalOfCredentials(request, reply, caller)
    if (refusal === null) return
    metrics.authFailures.inc({ kind: 'admin', reason: refusal.code })
    return sendRefusal(reply, refusal)
  })

  function refusalOfPlace(request: FastifyRequest, caller: ClientAddress): Refusal | null {
    const { host, origin, 'sec-fetch-site': site } = request.headers
    if (!caller.loopback && !settings.adminAllowRemote) return REMOTE_OFF
    if (!isKnownHost(host)) return HOST_UNKNOWN
    const facts = { method: request.method, host, origin, secFetchSite: site as string | undefined }
    return isCrossSite(facts, settings.apiBaseUrl) ? CROSS_SITE : null
  }

  function refusalOfCredentials(request: FastifyRequest, reply: FastifyReply, caller: ClientAddress): Refusal | null {
    const pause = attempts.pauseMs(caller.address)
    if (pause > 0) {
      reply.header('Retry-After', String(Math.ceil(pause / 1000)))
      return TOO_MANY
    }
    const verdict = checkCredentials(request.headers.authorization, settings)
    if (verdict.ok) {
      attempts.noteRight(caller.address)
      request.admin = { actor: verdict.actor, address: caller.address }
      return null
    }
    // Browsers send the first request without credentials: only wrong ones count as guesses.
    if (verdict.code === 'admin_credentials_wrong') {
      attempts.noteWrong(caller.address, caller.loopback, request.headers.authorization ?? '')
      request.log.info({ address: caller.address }, 'wrong admin credentials')
    }
    reply.header('WWW-Authenticate', challenge(settings))
    return verdict
  }
}
