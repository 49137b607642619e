import type { Refusal } from '@gateway/contracts/errors.js'
import { type AccessToken, decide, NOT_GRANTED, type WantedResource } from '@gateway/core/access/decide.js'
import { presentedToken } from '@gateway/core/access/presented-token.js'
import type { Admission } from '@gateway/core/access/rate-limiter.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { type Edge, edgeFor } from '../edge.js'
import { admitSigned, BEARER, OUTSIDE_AREA, type Reach, reaches, type Signable } from './authorize-signed.js'
import { answerRefusal, INTERNAL, STARTING, STORE_DOWN } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { noteSet, usageOf } from './tile-answer.js'

/** The resource of a request: several candidates if its address is ambiguous. */
export type Wanted = WantedResource | readonly NonNullable<WantedResource>[]

/** The request of an address, before anybody has decided whether its sender may have it. */
export interface Ask {
  readonly wanted: Wanted
  /** The resource that a signed URL would have to open if the request has no token; null: signed URLs are not accepted. */
  readonly signable: Signable | null
  /** The part of the resource that the bounds of a token must admit; null: a resource that cannot be cut to bounds, which they never admit. */
  readonly reach: Reach | null
  /** True for an address that needs no token. */
  readonly isOpen?: true
}

/** Any token may read it: a list, or an address that means nothing. */
export const ANY_TOKEN: Ask = { wanted: null, signable: null, reach: 'cut' }

/** Like `authorize`, for the request of an address. */
export function admit(
  exchange: RequestContext,
  { wanted, signable, reach, isOpen }: Ask,
  granted: (fromQuery: boolean, which: number, token: AccessToken) => void,
): void {
  if (isOpen) granted(false, 0, BEARER)
  else authorize(exchange, wanted, granted, signable, reach)
}

/**
 * Finds the token of a request and decides. Calls `granted` only if the token may read the resource: immediately if the token is known here, later
 * if the store or the bucket of a limited token must be asked. Otherwise sends the refusal itself. The first granted candidate counts. A request
 * that is refused for another reason takes nothing from the bucket.
 * @param signable the resource that a signed URL would have to open if the request has no token; null: signed URLs are not accepted
 * @param reach the part of the resource that the bounds of a token must admit; null: a resource that cannot be cut to bounds, which they never
 * admit
 */
export function authorize(
  exchange: RequestContext,
  wanted: Wanted,
  granted: (fromQuery: boolean, which: number, token: AccessToken) => void,
  signable: Signable | null = null,
  reach: Reach | null = signable,
) {
  const { edge } = exchange
  const bad = exchange.judgeHeaders()
  if (bad !== null) return answerRefusal(exchange, bad)
  let known: AccessToken | null | undefined
  const presented = presentedToken({
    authorization: exchange.header('authorization'),
    xAccessToken: exchange.header('x-access-token'),
    esriAuthorization: exchange.takesEsri ? exchange.header('x-esri-authorization') : '',
    query: exchange.query,
    takesTk: exchange.takesTk,
    isKnown: (text) => {
      known = edge.tokens.get(text)
      return known !== undefined
    },
  })
  if (
    !presented.ok &&
    presented.code === 'token_missing' &&
    signable !== null &&
    admitSigned(exchange, signable, () => granted(true, 0, BEARER))
  )
    return
  if (!presented.ok) return answerRefusal(exchange, presented)
  if (!edge.freshness.loaded) return answerRefusal(exchange, STARTING)
  const goOn = (token: AccessToken | null) => {
    if (exchange.aborted) return
    // biome-ignore lint/plugin: calendar, by which tokens expire
    const now = Date.now()
    const candidates = Array.isArray(wanted)
      ? (wanted as readonly NonNullable<WantedResource>[])
      : [wanted as WantedResource]
    if (token !== null) accountTo(exchange, token, candidates[0] as WantedResource)
    // A refused request for the tile of a basemap counts for its version, like a granted one.
    if (token !== null && signable?.address !== undefined && signable.opens === undefined)
      exchange.asked = usageOf(edge, signable)
    const sender = token === null || token.limits === null ? null : exchange.sender()
    let which = 0
    let decision = decide(token, candidates[0] as WantedResource, 'read', now, sender)
    while (!decision.ok && decision.code === 'resource_not_granted' && which + 1 < candidates.length) {
      which++
      decision = decide(token, candidates[which] as WantedResource, 'read', now, sender)
    }
    if (!decision.ok) {
      noteRefused(exchange, presented.token, token, decision, signable)
      return answerRefusal(exchange, decision)
    }
    if (which > 0) accountTo(exchange, token as AccessToken, candidates[which] as WantedResource)
    const allowed = token as AccessToken
    const area = allowed.limits?.area ?? null
    if (area !== null && candidates[which] !== null && !reaches(edge, area, reach, allowed))
      return answerRefusal(exchange, OUTSIDE_AREA)
    exchange.area = area
    exchange.reader = allowed
    const rate = allowed.limits?.rate ?? null
    if (rate === null) return letIn(allowed, now, which)
    const proceed = (admission: Admission) =>
      admission.ok ? letIn(allowed, now, which) : answerRefusal(exchange, admission)
    const admission = edge.rates.admit(allowed.id, rate)
    if (!(admission instanceof Promise)) return proceed(admission)
    void admission.then((later) => edge.turns.run(() => answerLater(exchange, () => proceed(later))))
  }
  const letIn = (token: AccessToken, now: number, which: number) => {
    edge.tokens.noteUsed(token, now)
    edge.tokens.noteAddress(token, now, () => exchange.sender().address)
    // Only while the token is in the cache, through which invalidations reach the native table: it may have been dropped since the store answered.
    // A request with a known token waits only if the token has a rate, and such tokens are not in the table.
    if (token === known || edge.tokens.get(presented.token) === token) edge.native.noteToken(presented.token, token)
    exchange.edge = edgeFor(edge, token)
    granted(presented.fromQuery, which, token)
  }
  if (known !== undefined) {
    edge.counters.tokenHits++
    if (performance.now() > edge.freshness.leaseExpiresAt) {
      if (known !== null) accountTo(exchange, known, Array.isArray(wanted) ? wanted[0] : (wanted as WantedResource))
      return answerRefusal(exchange, STORE_DOWN)
    }
    return goOn(known)
  }
  askStore(edge, exchange, presented.token, goOn)
}

/** Makes the native tier refuse further requests of this kind. */
function noteRefused(
  { edge, path }: RequestContext,
  plaintext: string,
  token: AccessToken | null,
  refusal: Refusal,
  wanted: Signable | null,
): void {
  if (edge.tokens.get(plaintext) !== token) return
  if (token === null) edge.native.noteUnknown(plaintext)
  else if (refusal === NOT_GRANTED) {
    edge.native.noteToken(plaintext, token)
    if (wanted?.address !== undefined && wanted.opens === undefined) noteSet(edge, path, wanted)
  }
}

/** Accounts only to names in the catalog, since the number of other names is unbounded. */
function accountTo(exchange: RequestContext, token: AccessToken, wanted: WantedResource): void {
  const { basemaps, vectors } = exchange.edge.freshness.catalog
  exchange.token = token.id
  exchange.asked = null
  if (wanted?.kind === 'basemap' && basemaps.has(wanted.code)) exchange.asked = `basemap:${wanted.code}`
  // The first name of a vector in the catalog is its code. For other vectors it may be a path.
  const code = wanted?.kind === 'vector' ? (wanted.names[0] as string) : ''
  if (vectors.get(code)?.wanted === wanted) exchange.asked = `vector:${code}`
}

function askStore(
  edge: Edge,
  exchange: RequestContext,
  token: string,
  goOn: (token: AccessToken | null) => void,
): void {
  edge.counters.tokenMisses++
  edge.tokens.lookUp(token).then(
    // All requests that wait for this token continue at once, but over as many turns as needed, so that tiles and the heartbeat are not delayed.
    (found) => edge.turns.run(() => answerLater(exchange, () => goOnWith(found))),
    () => edge.turns.run(() => guarded(edge, () => answerRefusal(exchange, STORE_DOWN))),
  )
  const goOnWith = (found: AccessToken | null) => {
    // The token may have been disabled while this request waited for its turn.
    const current = found === null ? null : edge.tokens.get(token)
    if (current === undefined) askStore(edge, exchange, token, goOn)
    else goOn(current)
  }
}

/** Continues a request unless it was aborted meanwhile. */
function answerLater(exchange: RequestContext, goOn: () => void): void {
  const { edge } = exchange
  guarded(edge, () => {
    if (exchange.aborted) return
    try {
      goOn()
    } catch (error) {
      noteTrouble(edge.log, 'requests fail', { err: error, path: exchange.path }, 'error')
      answerRefusal(exchange, INTERNAL)
    }
  })
}
