import type { Refusal } from '@gateway/contracts/errors.js'
import { parseRanges } from '@gateway/core/access/client-address.js'
import { type AccessToken, decide, NOT_GRANTED } from '@gateway/core/access/decide.js'
import { TOKEN_MALFORMED } from '@gateway/core/access/presented-token.js'
import { isTokenWellFormed } from '@gateway/core/access/token-format.js'
import { TIMED_EVERY } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { parseTilePath } from '@gateway/tilesets/address.js'
import { quickToken } from '../auth/quick-token.js'
import { type Edge, edgeFor } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { isNotModified } from '../files/conditional.js'
import { OpenFile } from '../tiles/open-file.js'
import type { CachedTile } from '../tiles/tile-cache.js'
import { answeredWith, type UsageName } from '../usage/usage-counts.js'
import { clientOf } from './access.js'
import { logAnswer, noteAnswer } from './answer-log.js'
import { namesTime } from './at-time.js'
import { type ConnectionEnd, connectionEnd, endAtOnce, endWith, sayEnd } from './connection-end.js'
import { active, guarded, sendPart } from './exchange.js'
import { countRefusal, isMissingTile, missingTileForm, prepareRefusal } from './refusals.js'
import { readConnection, readField, readFields } from './request-fields.js'
import { absentTile, findTarget, keepTile, prepareTile, usageOf, wantedBasemap } from './tile-answer.js'
import { onTileSlow } from './tiles.js'

const NOT_MODIFIED = '304 Not Modified'

/** A request with a token that is known here. */
interface KnownCaller {
  readonly path: string
  readonly query: string
  readonly plaintext: string
  /** null: known to be no token of the store */
  readonly token: AccessToken | null
  /** when it came, by `performance.now()` and by the calendar */
  readonly now: number
  readonly today: number
}

/**
 * GET below `/tiles/`. No promise, no query, no hashing where all is known: the token, and the tile, in this process's memory or in the kernel's.
 * Otherwise what was found out is handed on to `onTileSlow`.
 */
export function onTile(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const now = performance.now()
  const path = req.getUrl()
  const query = req.getQuery() ?? ''
  const plaintext = quickToken(req.getHeader('authorization'), req.getHeader('x-access-token'), query)
  const token = plaintext === '' ? undefined : edge.tokens.get(plaintext)
  const { freshness } = edge
  if (token === undefined) return onUnknownToken(edge, res, req, { path, query, plaintext, now })
  // Where a request comes from is looked at there, since few tokens are limited by it.
  if (token !== null && token.limits !== null) return onTileSlow(edge, res, req)
  // There is nothing at hand for a time.
  if (namesTime(query)) return onTileSlow(edge, res, req)
  if (!freshness.loaded || now > freshness.trustedUntilMs) return onTileSlow(edge, res, req)
  // biome-ignore lint/plugin: calendar, by which tokens expire
  const caller = { path, query, plaintext, token, now, today: Date.now() }
  const hot = edge.native.isTargetDue(path, now) ? undefined : edge.tileCache.get(path, freshness.catalog, now)
  if (hot === undefined) return onColdTile(edge, res, req, caller)
  const decision = decide(token, hot.basemap.wanted, 'read', caller.today, null)
  if (!decision.ok) return refuseCaller(edge, res, req, caller, hot.usage, decision)
  noteAddress(edge, res, req, caller)
  const status = answerTile(edge, res, req, caller, hot)
  if (status === null) return onTileSlow(edge, res, req)
  edge.counters.hotTileHits++
  edge.counters.answers.tile.count(status)
  edge.access?.answered(res, { kind: 'tile', status, bytes: bytesOf(hot, status), ms: performance.now() - now })
  noteUse(edge, caller)
  sampleDuration(edge, now, true)
}

function onColdTile(shared: Edge, res: HttpResponse, req: HttpRequest, caller: KnownCaller) {
  const { path, query, token, now, today } = caller
  const edge = edgeFor(shared, token)
  const parsed = parseTilePath(path)
  if (parsed.kind !== 'tile') return onTileSlow(edge, res, req)
  const decision = decide(token, wantedBasemap(edge, parsed.code), 'read', today, null)
  const target = findTarget(edge, parsed)
  if (!decision.ok) {
    // Others are refused there without JavaScript from now on.
    if (target.ok && target.isShared) edge.native.noteTarget(path, target, edge.tiles.opened(target.version), now)
    return refuseCaller(edge, res, req, caller, usageOf(edge, parsed), decision)
  }
  noteAddress(edge, res, req, caller)
  const tile = target.ok ? edge.tiles.tileIfCached(target.version, target.place) : null
  // With the directories that were read on the way to it.
  if (target.ok && target.isShared) edge.native.noteTarget(path, target, edge.tiles.opened(target.version), now)
  if (!target.ok) refuse(edge, res, req, caller, target, usageOf(edge, parsed))
  else if (tile === null) refuse(edge, res, req, caller, absentTile(edge.settings, target), target.version.usage)
  else if (tile === undefined) onTileSlow(edge, res, req, target, token as AccessToken)
  else {
    const prepared = prepareTile(target, tile, now)
    const status = answerTile(edge, res, req, caller, prepared)
    if (status === null) onTileSlow(edge, res, req, target, token as AccessToken)
    else {
      const ms = performance.now() - now
      edge.counters.tileTimes.of('page_cache').add(ms / 1000)
      const given = { status, bytes: bytesOf(prepared, status), ms }
      noteAnswer(edge, res, { kind: 'tile', path, query, ...given, trace: null })
    }
    keepTile(edge, path, target, prepared, tile)
  }
  noteUse(edge, caller)
}

const NO_CONDITION = { 'if-none-match': '', 'if-modified-since': '' }

/** A list that begins with gzip is not changed by what further lines add to it. */
function takesGzip(req: HttpRequest): boolean {
  const first = req.getHeader('accept-encoding')
  return acceptsGzip(/^gzip(,|$)/.test(first) ? first : readField(req, 'accept-encoding'))
}

/** The status; null: the client must get it unpacked, or has conditions that are rare, and nothing has been written. */
function answerTile(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  { path, token: caller }: KnownCaller,
  tile: CachedTile,
): 200 | 304 | null {
  const { answer, body, usage: asked } = tile
  // No tile is answered without one.
  const token = (caller as AccessToken).id
  if (answer.gzip && !takesGzip(req)) return null
  if (req.getHeader('if-match') !== '' || req.getHeader('if-unmodified-since') !== '') return null
  edge.counters.tiles++
  const end = connectionEnd(readConnection(edge.sender, req), edge.draining)
  const isConditional = req.getHeader('if-none-match') !== '' || req.getHeader('if-modified-since') !== ''
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = isConditional
    ? readFields(req, NO_CONDITION)
    : NO_CONDITION
  if (isConditional && isNotModified(ifNoneMatch, ifModifiedSince, answer)) {
    res.writeStatus(NOT_MODIFIED).writeHeader(answer.notModified.name, answer.notModified.value)
    endEmpty(res, end)
    edge.usage.count(token, asked, 'tile', 0, path)
    return 304
  }
  res.writeHeader(answer.found.name, answer.found.value)
  if (body instanceof OpenFile) {
    active.add(res)
    sayEnd(res, end)
    edge.usage.count(token, asked, 'tile', 0, path)
    sendPart(edge, res, path, body.acquire(), { token, asked }, () => active.delete(res))
    return 200
  }
  edge.counters.bytesSent += body.length
  edge.usage.count(token, asked, 'tile', body.length, path)
  if (!endWith(res, body, end)) waitForRoom(edge, res, body)
  return 200
}

function bytesOf({ body }: CachedTile, status: number): number {
  return status === 304 ? 0 : body.length
}

/** Ends an answer that has no body by its status, and so no length. */
function endEmpty(res: HttpResponse, end: ConnectionEnd): void {
  sayEnd(res, end)
  res.endWithoutBody()
}

function waitForRoom(edge: Edge, res: HttpResponse, body: Uint8Array): void {
  active.add(res)
  res.onAborted(() => void active.delete(res))
  res.onWritable((offset) => {
    let ok = true
    guarded(edge, () => {
      const [taken, done] = res.tryEnd(body.subarray(offset), body.length)
      ok = taken
      if (done) active.delete(res)
    })
    return ok
  })
}

/** Before the answer: after it the connection may be another's. */
function noteAddress(edge: Edge, res: HttpResponse, req: HttpRequest, { token, today }: KnownCaller): void {
  // Nobody is let in without one.
  edge.tokens.noteAddress(token as AccessToken, today, () =>
    clientOf(res, req, parseRanges(edge.settings.trustedProxies)),
  )
}

/** After the answer, which need not wait for it. */
function noteUse(edge: Edge, { plaintext, token, today }: KnownCaller): void {
  edge.counters.tokenHits++
  if (token === null) return
  edge.tokens.noteUsed(token, today)
  edge.native.noteToken(plaintext, token)
}

type Caller = Pick<KnownCaller, 'path' | 'query' | 'plaintext' | 'now'> & Partial<Pick<KnownCaller, 'token'>>

/** A mistyped token is refused as quickly as a known one. */
function onUnknownToken(edge: Edge, res: HttpResponse, req: HttpRequest, caller: Caller) {
  const isMistyped = caller.plaintext !== '' && !isTokenWellFormed(caller.plaintext)
  const kind = isMistyped ? parseTilePath(caller.path).kind : null
  if (kind === 'tile' || kind === 'tilejson') return refuse(edge, res, req, caller, TOKEN_MALFORMED)
  onTileSlow(edge, res, req)
}

/** A token that is unknown to the store, disabled, expired or not granted. */
function refuseCaller(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  caller: KnownCaller,
  asked: UsageName | null,
  refusal: Refusal,
): void {
  edge.counters.tokenHits++
  if (caller.token === null) edge.native.noteUnknown(caller.plaintext)
  else if (refusal === NOT_GRANTED) edge.native.noteToken(caller.plaintext, caller.token)
  refuse(edge, res, req, caller, refusal, asked)
}

/**
 * Refuses at once: a client with a withdrawn token comes as often as a map does, one that looks beyond a map's edge too, and a scanner more
 * often, so this costs as little as a tile out of memory.
 */
function refuse(
  edge: Edge,
  res: HttpResponse,
  req: HttpRequest,
  caller: Caller,
  refusal: Refusal,
  asked: UsageName | null = null,
): void {
  const { path, query, now, token = null } = caller
  countRefusal(edge, refusal)
  const { status, headers, body } = isMissingTile(refusal)
    ? refusal.forms[formFor(query, req)]
    : prepareRefusal(refusal)
  res.writeStatus(status).writeHeader(headers.name, headers.value)
  const end = connectionEnd(readConnection(edge.sender, req), edge.draining)
  if (body.length === 0) endEmpty(res, end)
  else endAtOnce(res, body, end)
  edge.counters.bytesSent += body.length
  const code = Number.parseInt(status, 10)
  if (token !== null) edge.usage.count(token.id, asked, answeredWith(refusal.code), body.length, path)
  edge.counters.answers.tile.count(code)
  edge.access?.answered(res, { kind: 'tile', status: code, bytes: body.length, ms: performance.now() - now })
  logAnswer(edge, { path, query, status: code, ms: 0, trace: null })
  sampleDuration(edge, now)
}

function formFor(query: string, req: HttpRequest) {
  return missingTileForm(query, req.getHeader('sec-fetch-dest'), req.getHeader('sec-fetch-mode'))
}

/** One answer from memory in so many is timed, for all of them: a second clock read would be a measurable part of it. */
function sampleDuration(edge: Edge, startedAt: number, isTile = false): void {
  if (edge.counters.requests % TIMED_EVERY !== 0) return
  const seconds = (performance.now() - startedAt) / 1000
  edge.counters.answers.tile.durations.add(seconds, TIMED_EVERY)
  if (isTile) edge.counters.tileTimes.of('memory').add(seconds, TIMED_EVERY)
}
