import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AuthorizationResponseError } from 'openid-client'
import { z } from 'zod'
import { type AdminGate, SIGN_IN_PATH } from '../platform/admin-gate/gate.js'
import { OwnCookies, SESSION_COOKIE } from '../platform/admin-gate/session-cookie.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { actorOf, nameOf, roleOf } from './claims.js'
import { CALLBACK_PATH, Provider, type Transaction } from './provider.js'
import { beginSession } from './session.js'
import { FOR_STRANGERS, type Problem, queryOf, type Shown, sendSignInPage, wantedPage } from './sign-in-routes.js'

/** Seconds that a person has to sign in at the provider. */
const TRANSACTION_SECONDS = 600

/** The transaction that the browser keeps, with the page to open afterwards. */
const kept = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() })

/** The way through an OpenID provider: from the page for signing in to the provider, back from it, and out of it. */
export function providerRoutes(app: App, ctx: ControlContext, gate: AdminGate): void {
  const { settings } = ctx
  const provider = new Provider(settings)
  const cookies = new OwnCookies(settings.apiBaseUrl)
  const page = (request: FastifyRequest, reply: FastifyReply, shown: Shown) =>
    sendSignInPage(request, reply, settings, shown)

  app.get(`${SIGN_IN_PATH}/start`, FOR_STRANGERS, async (request, reply) => {
    const query = queryOf(request)
    const to = wantedPage(query.get('to'))
    // The browser returns to this URL, and must bring the cookie that it gets here. Only one redirect, since a proxy may always show another Host.
    const isElsewhere = request.headers.host !== new URL(settings.apiBaseUrl).host
    if (isElsewhere && !query.has('moved')) {
      return reply.redirect(`${settings.apiBaseUrl}${SIGN_IN_PATH}/start?moved&to=${encodeURIComponent(to)}`, 302)
    }
    try {
      const { url, transaction } = await provider.begin()
      const value = Buffer.from(JSON.stringify({ ...transaction, to })).toString('base64url')
      reply.header('Set-Cookie', cookies.set(cookieOf(transaction.state), value, TRANSACTION_SECONDS))
      return reply.redirect(url.href, 302)
    } catch (error) {
      note(ctx, error)
      return page(request, reply, { problem: 'unreachable', to })
    }
  })

  app.get(CALLBACK_PATH, FOR_STRANGERS, async (request, reply) => {
    const query = queryOf(request)
    const begun = keptOf(cookies, request, query.get('state') ?? '')
    if (begun === null) return page(request, reply, { problem: 'stale' })
    reply.header('Set-Cookie', cookies.clear(cookieOf(begun.transaction.state)))
    const { to } = begun
    const claims = await provider.finish(query.toString(), begun.transaction).catch((error: unknown) => error as Error)
    if (claims instanceof Error) {
      note(ctx, claims)
      return page(request, reply, { problem: problemOf(claims), to })
    }
    const [actor, role] = [actorOf(claims), roleOf(claims, settings.oidcRoleClaim, settings.oidcRoles)]
    if (role === null) {
      noteTrouble(ctx.log, 'people sign in who have no role here', { actor, claim: settings.oidcRoleClaim })
      return page(request, reply, { actorWithoutRole: actor, to })
    }
    const who = { name: nameOf(claims), actor, role, begunBy: 'oidc' } as const
    const id = await beginSession(ctx, cookies, request, who, gate.addressOf(request))
    return reply.header('Set-Cookie', cookies.set(SESSION_COOKIE, id)).redirect(to, 303)
  })

  app.get(`${SIGN_IN_PATH}/leave`, FOR_STRANGERS, async (request, reply) => {
    const url = await provider.signOutUrl(`${SIGN_IN_PATH}?ended`).catch((error: unknown) => note(ctx, error))
    return url ? reply.redirect(url.href, 302) : page(request, reply, { problem: 'unreachable' })
  })
}

/** Returns a separate cookie for each transaction, since several windows may sign in at the same time. */
function cookieOf(state: string): string {
  return `gateway_sign_in_${state.slice(0, 8)}`
}

function keptOf(
  cookies: OwnCookies,
  request: FastifyRequest,
  state: string,
): { readonly transaction: Transaction; readonly to: string } | null {
  const value = cookies.read(request.headers.cookie, cookieOf(state))
  if (value === undefined) return null
  try {
    const { to, ...transaction } = kept.parse(JSON.parse(Buffer.from(value, 'base64url').toString()))
    return transaction.state === state ? { transaction, to: wantedPage(to) } : null
  } catch {
    return null
  }
}

function problemOf(error: Error): Problem {
  if (error instanceof AuthorizationResponseError) return error.error === 'access_denied' ? 'denied' : 'failed'
  // fetch rejects with these errors if there is no response.
  return error instanceof TypeError || error.name === 'TimeoutError' ? 'unreachable' : 'failed'
}

function note({ log }: Pick<ControlContext, 'log'>, error: unknown): null {
  const { message, code, cause } = error as Error & { code?: string; cause?: { message?: unknown; error?: unknown } }
  noteTrouble(log, 'sign-in by OpenID Connect does not succeed', {
    err: message,
    code,
    cause: cause?.error ?? cause?.message,
  })
  return null
}
