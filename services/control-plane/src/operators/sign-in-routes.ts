import type { Settings } from '@gateway/core/settings/load.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AdminGate, SIGN_IN_PATH } from '../platform/admin-gate/gate.js'
import { OwnCookies, SESSION_COOKIE } from '../platform/admin-gate/session-cookie.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { preferencesOf } from '../platform/http/page-preferences.js'
import { allowStyles, newNonce } from '../platform/http/style-nonce.js'
import { type PageTexts, textsFor } from './page-texts.js'
import { beginSession } from './session.js'
import { signInPage } from './sign-in-page.js'

const HOME = '/admin/'

export type Problem = keyof PageTexts['problems']

/** Options of the routes for people who are not signed in. */
export const FOR_STRANGERS = { config: { forStrangers: true }, schema: { hide: true } } as const

/** The page for signing in, and its form for the administrator's password. With an OpenID provider, `providerRoutes` adds the way through it. */
export async function signInRoutes(app: App, ctx: ControlContext, gate: AdminGate): Promise<void> {
  const { settings } = ctx
  const cookies = new OwnCookies(settings.apiBaseUrl)

  app.get(SIGN_IN_PATH, FOR_STRANGERS, async (request, reply) => {
    const query = queryOf(request)
    const signedOut = query.has('ended')
    if (!signedOut && (await gate.isSignedIn(request))) return reply.redirect(wantedPage(query.get('to')), 302)
    return sendSignInPage(request, reply, settings, { signedOut })
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
          return sendSignInPage(request, reply, settings, {
            problem: verdict.code === 'too_many_requests' ? 'tooMany' : 'password',
            to,
          })
        }
        const { actor } = verdict
        const who = { name: actor, actor, role: 'admin', begunBy: 'password' } as const
        const id = await beginSession(ctx, cookies, request, who, gate.addressOf(request))
        return reply.header('Set-Cookie', cookies.set(SESSION_COOKIE, id)).redirect(to, 303)
      },
    )
  })
}

export interface Shown {
  readonly problem?: Problem
  readonly signedOut?: boolean
  readonly actorWithoutRole?: string
  readonly to?: string
}

const STATUS: Readonly<Partial<Record<Problem, number>>> = { password: 401, tooMany: 429, unreachable: 503 }

/** Sends the page for signing in, with what happened before. */
export function sendSignInPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { oidcIssuer, adminPassword }: Pick<Settings, 'oidcIssuer' | 'adminPassword'>,
  { problem, signedOut = false, actorWithoutRole, to = wantedPage(queryOf(request).get('to')) }: Shown,
): FastifyReply {
  const hasPassword = adminPassword !== null
  const host = oidcIssuer === null ? null : new URL(oidcIssuer).host
  const preferences = preferencesOf(request.headers)
  const texts = textsFor(preferences)
  const nonce = newNonce()
  const status = actorWithoutRole !== undefined ? 403 : problem === undefined ? 200 : (STATUS[problem] ?? 400)
  const message =
    actorWithoutRole !== undefined
      ? texts.noRole(actorWithoutRole)
      : problem !== undefined
        ? texts.problems[problem === 'unreachable' && !hasPassword ? 'unreachableNoPassword' : problem]
        : signedOut
          ? texts.signedOut
          : host === null && !hasPassword
            ? texts.noPassword
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
          preferences,
          nonce,
          host,
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

export function queryOf({ raw }: FastifyRequest): URLSearchParams {
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
