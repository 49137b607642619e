import type { Refusal } from '@gateway/contracts/errors.js'
import type { Scope } from '@gateway/contracts/token.js'
import { toAccessToken } from '@gateway/core/access/access-token.js'
import {
  type AccessToken,
  type Decision,
  decide,
  UNKNOWN_TOKEN,
  type WantedResource,
} from '@gateway/core/access/decide.js'
import { challenge, isBasic, presentedToken } from '@gateway/core/access/presented-token.js'
import { RateLimiter } from '@gateway/core/access/rate-limiter.js'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import type { Sender } from '@gateway/core/access/token-limits.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { findTokensByDigest, noteTokensUsed, type TokenUse } from '@gateway/store/tokens.js'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { FindCaller } from '../admin-gate/caller.js'
import type { ControlContext } from '../context.js'
import { readInTime } from '../http/answer-in-time.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'

/** `last_used_at` may lag by this much; it shows whether a token is in use, not when exactly. */
const FLUSH_MS = 2_000

/** Collects when tokens were used and writes that in batches, so that a read does not cost a write. */
class TokenUses {
  readonly #ctx: Pick<ControlContext, 'sql' | 'now' | 'log' | 'settings'>
  readonly #trouble: TroubleLog
  #used = new Map<string, TokenUse>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Pick<ControlContext, 'sql' | 'now' | 'log' | 'settings'>) {
    this.#ctx = ctx
    this.#trouble = new TroubleLog(ctx.log, 'the last use of tokens could not be noted')
  }

  note(tokenId: string, address: string): void {
    const from = this.#ctx.settings.tokenAddresses ? address : null
    this.#used.set(tokenId, { at: new Date(this.#ctx.now()), from })
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** Writes what is collected. It is lost while the store is down; the next use notes the same again. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const used = this.#used
    this.#used = new Map()
    await noteTokensUsed(this.#ctx.sql, used).catch((error: Error) => {
      this.#trouble.note({ err: error.message })
    })
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** set on routes behind `ServiceGate.require` */
    serviceToken: AccessToken
  }
}

/** Admits requests with a service token, checked against the store: too few requests reach the control plane for a cache to be useful. */
export interface ServiceGate {
  /** Returns an onRequest hook that requires a usable token with this scope (400, 401, 403 otherwise). It runs before the body is read. */
  require(scope: Scope): onRequestAsyncHookHandler
  /** True if the admitted token's grants cover a resource, whether or not it exists. Otherwise sends the refusal and returns false. */
  grants(request: FastifyRequest, reply: FastifyReply, wanted: NonNullable<WantedResource>, scope: Scope): boolean
}

export function createServiceGate(app: App, ctx: ControlContext, findCaller: FindCaller): ServiceGate {
  const uses = new TokenUses(ctx)
  const rates = new RateLimiter((requests) => ctx.bus.takePermits(requests), 1)
  app.decorateRequest('serviceToken')
  app.addHook('onClose', () => uses.flush())

  const senderOf = ({ headers, socket }: FastifyRequest): Sender => ({
    origin: headers.origin ?? '',
    referer: headers.referer ?? '',
    address: findCaller({ peer: socket.remoteAddress ?? '', headers }).address,
  })
  const refuse = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
    if (refusal.code.startsWith('token_'))
      reply.header('WWW-Authenticate', challenge(isBasic(reply.request.headers.authorization)))
    if (refusal.code !== 'rate_limited') ctx.metrics.authFailures.inc({ kind: 'service', reason: refusal.code })
    return sendRefusal(reply, refusal)
  }
  return {
    require: (scope) => async (request, reply) => {
      const sender = senderOf(request)
      const admission = await readInTime(admit(ctx, request, scope, sender), reply)
      if (!admission.ok) return refuse(reply, admission)
      const rate = admission.token.limits?.rate ?? null
      const passed = rate === null ? admission : await rates.admit(admission.token.id, rate)
      if (!passed.ok) return refuse(reply, passed)
      request.serviceToken = admission.token
      uses.note(admission.token.id, sender.address)
    },
    grants(request, reply, wanted, scope) {
      const decision = decide(request.serviceToken, wanted, scope, ctx.now(), senderOf(request))
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
  sender: Sender,
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
  const decision: Decision = decide(token, null, scope, ctx.now(), sender)
  return decision.ok ? { ok: true, token } : decision
}

/** Joins repeated headers; the result is then not a well-formed token. */
function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
