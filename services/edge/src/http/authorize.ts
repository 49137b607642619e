import type { Refusal } from '@gateway/contracts/errors.js'
import { type AccessToken, decide, NOT_GRANTED, type WantedResource } from '@gateway/core/access/decide.js'
import { presentedToken } from '@gateway/core/access/presented-token.js'
import type { Admission } from '@gateway/core/access/rate-limiter.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { type Edge, edgeFor } from '../edge.js'
import { admitSigned, OUTSIDE_AREA, type Reach, reaches, type Signable } from './authorize-signed.js'
import { answerRefusal, INTERNAL, STARTING, STORE_DOWN } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { noteSet, usageOf } from './tile-answer.js'

/** The resource of a request: several candidates where one address may mean several. */
export type Wanted = WantedResource | readonly NonNullable<WantedResource>[]

/**
 * Finds the token of a request and decides. Goes on with `granted` only where it may read what it wants, at once where the token is
 * known here, later where the store or the bucket of a limited token must be asked; answers the refusal itself otherwise. Of several candidates
 * the first granted one counts. A request that is refused for another reason takes nothing from the bucket.
 * @param signable what a signed address would have to open, where no token comes with it; null: signed addresses do not count here
 * @param reach what of a resource is wanted, by which a token with bounds is let in; null: what cannot be cut to bounds, which it never is
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
    // A tile that may not be had counts for its version, as one that may.
    if (token !== null && signable?.address !== undefined) exchange.asked = usageOf(edge, signable)
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
    if (area !== null && candidates[which] !== null && !reaches(edge, area, reach))
      return answerRefusal(exchange, OUTSIDE_AREA)
    exchange.area = area
    exchange.reader = allowed
    const rate = allowed.limits?.rate ?? null
    if (rate === null) return admit(allowed, now, which)
    const proceed = (admission: Admission) =>
      admission.ok ? admit(allowed, now, which) : answerRefusal(exchange, admission)
    const admission = edge.rates.admit(allowed.id, rate)
    if (!(admission instanceof Promise)) return proceed(admission)
    void admission.then((later) => edge.turns.run(() => answerLater(exchange, () => proceed(later))))
  }
  const admit = (token: AccessToken, now: number, which: number) => {
    edge.tokens.noteUsed(token, now)
    edge.tokens.noteAddress(token, now, () => exchange.sender().address)
    // Only while it is in the cache: what is invalidated leaves the native table through it, and it may be gone since the store answered. One that
    // was known waits only where it is limited, and such are not in the table.
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

/** The native tier refuses the next such requests. */
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

/** In the place of a token, for those who take a signed address and look at no token. */
const BEARER: AccessToken = {
  id: '',
  prefix: '',
  scopes: new Set(['read']),
  basemaps: new Set(),
  vectors: new Set(),
  layers: new Set(),
  expiresAtMs: null,
  disabled: false,
  limits: null,
}

/** Only names that the catalog has: the number of others is unbounded. */
function accountTo(exchange: RequestContext, token: AccessToken, wanted: WantedResource): void {
  const { basemaps, vectors } = exchange.edge.freshness.catalog
  exchange.token = token.id
  exchange.asked = null
  if (wanted?.kind === 'basemap' && basemaps.has(wanted.code)) exchange.asked = `basemap:${wanted.code}`
  // Its first name is its code; so may be the path of one that the catalog does not have.
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
    // All that wait for this token are told at once, and answered over as many turns as it takes: tiles and the heartbeat come between.
    (found) => edge.turns.run(() => answerLater(exchange, () => goOnWith(found))),
    () => edge.turns.run(() => guarded(edge, () => answerRefusal(exchange, STORE_DOWN))),
  )
  const goOnWith = (found: AccessToken | null) => {
    // What was found may have been disabled while this request waited for its turn.
    const current = found === null ? null : edge.tokens.get(token)
    if (current === undefined) askStore(edge, exchange, token, goOn)
    else goOn(current)
  }
}

/** Goes on with a request that may have gone meanwhile. */
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
