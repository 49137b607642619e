import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AuthorizationResponseError } from 'openid-client'
import { z } from 'zod'
import { type AdminGate, SIGN_IN_PATH } from '../platform/admin-gate/gate.js'
import { OwnCookies, SESSION_COOKIE } from '../platform/admin-gate/session-cookie.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { allowStyles, newNonce } from '../platform/http/style-nonce.js'
import { actorOf, nameOf, roleOf } from './claims.js'
import { type PageTexts, textsFor } from './page-texts.js'
import { CALLBACK_PATH, Provider, type Transaction } from './provider.js'
import { beginSession } from './session.js'
import { signInPage } from './sign-in-page.js'

/** Seconds that a person has to sign in at the provider. */
const TRANSACTION_SECONDS = 600
const HOME = '/admin/'

type Problem = keyof PageTexts['problems']

/** The transaction that the browser keeps, with the page to open afterwards. */
const kept = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() })

/** Routes for users who are not signed in. They exist only with an OpenID provider. */
export async function signInRoutes(app: App, ctx: ControlContext, gate: AdminGate): Promise<void> {
  const { settings } = ctx
  const provider = new Provider(settings)
  const cookies = new OwnCookies(settings.apiBaseUrl)
  const page = (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) =>
    sendPage(request, reply, { provider, hasPassword: settings.adminPassword !== null }, shown)
  const options = { config: { forStrangers: true }, schema: { hide: true } } as const

  app.get(SIGN_IN_PATH, options, (request, reply) =>
    page(request, reply, { signedOut: queryOf(request).get('ended') !== null }),
  )

  app.get(`${SIGN_IN_PATH}/start`, options, async (request, reply) => {
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

  app.get(CALLBACK_PATH, options, async (request, reply) => {
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

  app.get(`${SIGN_IN_PATH}/leave`, options, async (request, reply) => {
    const url = await provider.signOutUrl(`${SIGN_IN_PATH}?ended`).catch((error: unknown) => note(ctx, error))
    return url ? reply.redirect(url.href, 302) : page(request, reply, { problem: 'unreachable' })
  })

  await app.register(async (forms) => {
    forms.removeContentTypeParser('application/x-www-form-urlencoded')
    forms.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, new URLSearchParams(body)),
    )
    forms.post(
      `${SIGN_IN_PATH}/password`,
      { config: { forStrangers: true, takesForm: true }, schema: { hide: true } },
      async (request, reply) => {
        const to = wantedPage(queryOf(request).get('to'))
        const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
        const pair = `${form.get('user') ?? ''}:${form.get('password') ?? ''}`
        const verdict = gate.admitByCredentials(request, reply, `Basic ${Buffer.from(pair).toString('base64')}`)
        if (!verdict.ok) {
          reply.removeHeader('WWW-Authenticate')
          return page(request, reply, { problem: verdict.code === 'too_many_requests' ? 'tooMany' : 'password', to })
        }
        const { actor } = verdict
        const who = { name: actor, actor, role: 'admin', begunBy: 'password' } as const
        const id = await beginSession(ctx, cookies, request, who, gate.addressOf(request))
        return reply.header('Set-Cookie', cookies.set(SESSION_COOKIE, id)).redirect(to, 303)
      },
    )
  })
}

interface Shown {
  readonly problem?: Problem
  readonly signedOut?: boolean
  readonly actorWithoutRole?: string
  readonly to?: string
}

const STATUS: Readonly<Partial<Record<Problem, number>>> = { password: 401, tooMany: 429, unreachable: 503 }

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { provider, hasPassword }: { provider: Provider; hasPassword: boolean },
  { problem, signedOut = false, actorWithoutRole, to = wantedPage(queryOf(request).get('to')) }: Shown,
): FastifyReply {
  const texts = textsFor(request.headers['accept-language'])
  const nonce = newNonce()
  const status = actorWithoutRole !== undefined ? 403 : problem === undefined ? 200 : (STATUS[problem] ?? 400)
  const message =
    actorWithoutRole !== undefined
      ? texts.noRole(actorWithoutRole)
      : problem !== undefined
        ? texts.problems[problem === 'unreachable' && !hasPassword ? 'unreachableNoPassword' : problem]
        : signedOut
          ? texts.signedOut
          : null
  return (
    allowStyles(reply, nonce)
      .code(status)
      // Without this header a form is sent from the origin "null".
      .header('Referrer-Policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .serializer((text: string) => text)
      .send(
        signInPage({
          texts,
          nonce,
          host: provider.host,
          to,
          hasPassword,
          opensPassword: problem === 'unreachable' || problem === 'password' || problem === 'tooMany',
          message,
          ...(actorWithoutRole !== undefined && { advice: texts.noRoleAdvice }),
          offersSignOut: signedOut || actorWithoutRole !== undefined,
        }),
      )
  )
}

function queryOf({ raw }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(raw.url ?? '')?.[1] ?? '')
}

/** Returns a page of the console. Any other URL, above all a foreign one, becomes its first page. */
export function wantedPage(to: string | null): string {
  const base = 'http://gateway.invalid'
  if (to === null || !URL.canParse(to, base)) return HOME
  const { origin, pathname, search, hash } = new URL(to, base)
  const isConsole = origin === base && pathname.startsWith(HOME) && !pathname.startsWith(SIGN_IN_PATH)
  return isConsole ? `${pathname}${search}${hash}` : HOME
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
