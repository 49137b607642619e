import { type AccessToken, type Decision, decide, UNKNOWN_TOKEN, type WantedResource } from '@gateway/access/decide.js'
import { presentedToken } from '@gateway/access/presented-token.js'
import { tokenDigest } from '@gateway/access/token-format.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { Scope } from '@gateway/contracts/token.js'
import { findTokensByDigest, type StoredToken } from '@gateway/store/tokens.js'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { TokenUses } from './token-uses.js'

/** RFC 6750, 3. */
const CHALLENGE = 'Bearer realm="map asset gateway"'

declare module 'fastify' {
  interface FastifyRequest {
    /** set on routes behind `ServiceGate.require` */
    serviceToken: AccessToken
  }
}

/** Lets requests with a service token in, judged against the store: the control plane is asked too seldom for a cache. */
export interface ServiceGate {
  /** An onRequest hook: a usable token with this scope (400, 401, 403 otherwise). It runs before the body is read and judged. */
  require(scope: Scope): onRequestAsyncHookHandler
  /** Whether the admitted token's grants cover a resource, whether or not it exists. Answers the refusal itself: false then. */
  grants(request: FastifyRequest, reply: FastifyReply, wanted: NonNullable<WantedResource>, scope: Scope): boolean
}

export function createServiceGate(app: App, ctx: ControlContext): ServiceGate {
  const uses = new TokenUses(ctx)
  app.decorateRequest('serviceToken')
  app.addHook('onClose', () => uses.flush())

  const refuse = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
    if (refusal.code.startsWith('token_')) reply.header('WWW-Authenticate', CHALLENGE)
    ctx.metrics.authFailures.inc({ kind: 'service', reason: refusal.code })
    return sendRefusal(reply, refusal)
  }
  return {
    require: (scope) => async (request, reply) => {
      const admission = await admit(ctx, request, scope)
      if (!admission.ok) return refuse(reply, admission)
      request.serviceToken = admission.token
      uses.note(admission.token.id)
    },
    grants(request, reply, wanted, scope) {
      const decision = decide(request.serviceToken, wanted, scope, ctx.now())
      if (!decision.ok) refuse(reply, decision)
      return decision.ok
    },
  }
}

type Admission = { readonly ok: true; readonly token: AccessToken } | Refusal

async function admit(
  ctx: Pick<ControlContext, 'sql' | 'now'>,
  request: FastifyRequest,
  scope: Scope,
): Promise<Admission> {
  const presented = presentedToken({
    authorization: request.headers.authorization,
    xAccessToken: joined(request.headers['x-access-token']),
    query: /\?(.*)$/s.exec(request.raw.url ?? '')?.[1],
  })
  if (!presented.ok) return presented
  const [stored] = await findTokensByDigest(ctx.sql, [tokenDigest(presented.token)])
  if (stored === undefined) return UNKNOWN_TOKEN
  const token = toAccessToken(stored)
  const decision: Decision = decide(token, null, scope, ctx.now())
  return decision.ok ? { ok: true, token } : decision
}

function toAccessToken(stored: StoredToken): AccessToken {
  return {
    id: stored.id,
    prefix: stored.prefix,
    scopes: new Set(stored.scopes),
    basemaps: new Set(stored.basemap_codes),
    vectors: new Set(stored.vector_codes),
    expiresAtMs: stored.expires_at === null ? null : Date.parse(stored.expires_at),
    disabled: stored.disabled_at !== null,
  }
}

/** Repeated headers of one name come joined; they are no well-formed token then. */
function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
