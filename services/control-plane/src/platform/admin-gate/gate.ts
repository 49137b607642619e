import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { ClientAddress } from '@gateway/core/access/client-address.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { noteSessionUsed, readSession } from '@gateway/store/operator-sessions.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../context.js'
import { readInTime } from '../http/answer-in-time.js'
import type { App } from '../http/app-type.js'
import { preferencesOf } from '../http/page-preferences.js'
import { refusalHead, sendRefusal } from '../http/refusal.js'
import { allowStyles, newNonce } from '../http/style-nonce.js'
import { isAdminRequest } from './admin-path.js'
import { Attempts } from './attempts.js'
import type { FindCaller } from './caller.js'
import { type CredentialsVerdict, challenge, checkCredentials } from './credentials.js'
import { isCrossSite } from './cross-site.js'
import { knownHosts } from './host-rule.js'
import { refusalPage } from './refusal-page.js'
import { neededRole, refusalOfRole } from './roles.js'
import { OwnCookies, SESSION_COOKIE, sessionDigest } from './session-cookie.js'
import './operator.js'

const REMOTE_OFF = refuse('admin_remote_off', coded('admin_this_machine'))
const HOST_UNKNOWN = refuse('admin_host_unknown', coded('admin_host_unknown'))
const CROSS_SITE = refuse('cross_site', coded('admin_other_origin'))
const TOO_MANY = refuse('too_many_requests', coded('admin_too_many_guesses'))
const SESSION_ENDED = refuse('session_ended', coded('session_ended'))

/** A page in the background sends this header with its automatic requests, which do not extend a session. */
const BACKGROUND_HEADER = 'x-background'

export const SIGN_IN_PATH = '/admin/sign-in'

/** The functions of the gate that the sign-in routes use. */
export interface AdminGate {
  /** Checks an Authorization header like the gate, and counts guesses. Returns the user's name, or a refusal. */
  admitByCredentials(request: FastifyRequest, reply: FastifyReply, authorization: string): CredentialsVerdict
  /** Returns true if the browser has a session that goes on. */
  isSignedIn(request: FastifyRequest): Promise<boolean>
  /** Returns the client's address, for the audit. */
  addressOf(request: FastifyRequest): string
}

/**
 * Protects every admin route, and every unknown path that looks like one. It checks in this order: remote callers while remote administration is
 * off (403), a foreign Host (403), a change that a foreign page requests (403), too many wrong guesses (429), credentials or a session (401), the
 * role (403). A browser that opens a page is redirected to the sign-in if OpenID Connect is configured or its session has ended; otherwise it gets
 * the Basic challenge, as the interface says.
 */
export function registerAdminGate(app: App, ctx: ControlContext, findCaller: FindCaller): AdminGate {
  const { settings, metrics, sql } = ctx
  const isKnownHost = knownHosts(settings)
  const attempts = new Attempts(() => performance.now())
  const cookies = new OwnCookies(settings.apiBaseUrl)
  const hasProvider = settings.oidcIssuer !== null
  /** The ways of signing in that this service offers now: a session that began by another one is not accepted. */
  const isOffered = { oidc: hasProvider, password: settings.adminPassword !== null }

  app.decorateRequest('admin')
  app.decorateRequest('operator')
  app.decorateRequest('isStillSignedIn')
  app.addHook('onRequest', async (request, reply) => {
    const { url: route, config } = request.routeOptions
    if (!isAdminRequest(route, request.raw.url ?? '')) return
    const caller = callerOf(request)
    const refusal = refusalOfPlace(request, caller) ?? (await refusalOfIdentity(request, reply, caller))
    if (refusal === null) return
    metrics.authFailures.inc({ kind: 'admin', reason: refusal.code })
    if (config?.forStrangers !== true && leadsToSignIn(refusal) && opensPage(request)) {
      return reply.redirect(`${SIGN_IN_PATH}?to=${encodeURIComponent(request.raw.url ?? '')}`, 302)
    }
    if (!opensPage(request)) return sendRefusal(reply, refusal)
    const nonce = newNonce()
    const page = refusalPage(refusal, preferencesOf(request.headers), nonce)
    return allowStyles(refusalHead(reply, refusal), nonce).type('text/html; charset=utf-8').send(page)
  })

  function leadsToSignIn({ code }: Refusal): boolean {
    return code === 'session_ended' || (hasProvider && code === 'admin_credentials_missing')
  }

  function callerOf({ socket, headers }: FastifyRequest): ClientAddress {
    return findCaller({ peer: socket.remoteAddress ?? '', headers })
  }

  function refusalOfPlace(request: FastifyRequest, caller: ClientAddress): Refusal | null {
    const { host } = request.headers
    if (!caller.loopback && !settings.adminAllowRemote) return REMOTE_OFF
    if (!isKnownHost(host)) return HOST_UNKNOWN
    return isCrossSite(siteFacts(request), settings.apiBaseUrl) ? CROSS_SITE : null
  }

  /** Sets the identity of the request if its credentials suffice. */
  async function refusalOfIdentity(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: ClientAddress,
  ): Promise<Refusal | null> {
    if (request.routeOptions.config?.forStrangers) return null
    const { authorization } = request.headers
    const id = authorization ? undefined : cookies.read(request.headers.cookie, SESSION_COOKIE)
    const refusal =
      id === undefined
        ? refusalOfCredentials(request, reply, caller, authorization)
        : await refusalOfSession(request, reply, caller, sessionDigest(id))
    if (refusal !== null) return refusal
    return refusalOfRole(request.operator.role, neededRole(request.method, request.routeOptions.url ?? ''))
  }

  async function refusalOfSession(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: ClientAddress,
    digest: Buffer,
  ): Promise<Refusal | null> {
    const read = () => readOffered(digest)
    const session = await readInTime(read(), reply)
    if (session === null) {
      reply.header('WWW-Authenticate', challenge(settings, false))
      return SESSION_ENDED
    }
    const { name, actor, role, begunBy, expiresAt } = session
    request.admin = { actor, address: caller.address }
    request.operator = { name, role, by: begunBy, session: { digest, expiresAt } }
    request.isStillSignedIn = async () => (await read()) !== null
    if (isCausedByPerson(request)) await readInTime(noteSessionUsed(sql, digest), reply)
    return null
  }

  async function readOffered(digest: Buffer): ReturnType<typeof readSession> {
    const session = await readSession(sql, digest, settings.sessionIdleSeconds)
    return session !== null && isOffered[session.begunBy] ? session : null
  }

  function refusalOfCredentials(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: ClientAddress,
    authorization: string | undefined,
  ): Refusal | null {
    const verdict = judged(request, reply, caller, authorization)
    if (!verdict.ok) return verdict
    request.admin = { actor: verdict.actor, address: caller.address }
    request.operator = { name: verdict.actor, role: 'admin', by: verdict.by, session: null }
    return null
  }

  function judged(
    request: FastifyRequest,
    reply: FastifyReply,
    { address, loopback }: ClientAddress,
    authorization: string | undefined,
  ): CredentialsVerdict {
    const pause = attempts.pauseMs(address)
    if (pause > 0) {
      reply.header('Retry-After', String(Math.ceil(pause / 1000)))
      return TOO_MANY
    }
    const verdict = checkCredentials(authorization, settings, serviceTokenPlace(request))
    if (verdict.ok) {
      attempts.noteRight(address)
      return verdict
    }
    // Browsers send their first request without credentials, so only wrong ones count as guesses.
    if (verdict.code === 'admin_credentials_wrong') {
      attempts.noteWrong(address, loopback, authorization ?? '')
      // The same wrong credentials may come without end. They are not further guesses, so no pause applies.
      noteTrouble(ctx.log, 'admin credentials are wrong', { address })
    }
    // If Basic is offered, a browser covers the console with its own dialog. The console's sign-in page serves users better.
    const offersBasic = !hasProvider || /^basic /i.test(request.headers.authorization ?? '')
    reply.header('WWW-Authenticate', challenge(settings, offersBasic))
    return verdict
  }

  return {
    admitByCredentials(request, reply, authorization) {
      const verdict = judged(request, reply, callerOf(request), authorization)
      if (!verdict.ok) metrics.authFailures.inc({ kind: 'admin', reason: verdict.code })
      return verdict
    },
    async isSignedIn(request) {
      const id = cookies.read(request.headers.cookie, SESSION_COOKIE)
      return id !== undefined && (await readOffered(sessionDigest(id))) !== null
    },
    addressOf: (request) => callerOf(request).address,
  }
}

function siteFacts({ method, headers }: FastifyRequest) {
  const { host, origin, 'sec-fetch-site': site } = headers
  return { method, host, origin, secFetchSite: site as string | undefined }
}

/** Returns the place of a credential in the request that would be a service token elsewhere, or null. */
function serviceTokenPlace({ headers, raw }: FastifyRequest): string | null {
  if (headers['x-access-token'] !== undefined) return 'X-Access-Token'
  const name = /[?&](token|access_token)=/.exec(raw.url ?? '')?.[1]
  return name === undefined ? null : `?${name}=`
}

/** True if a person opened a page, false if a script reads it. */
function opensPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.startsWith('/api/') && (headers.accept ?? '').includes('text/html')
}

function isCausedByPerson({ headers }: FastifyRequest): boolean {
  return headers[BACKGROUND_HEADER] === undefined && headers.accept !== 'text/event-stream'
}
