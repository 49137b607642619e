import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { decide } from '@gateway/access/decide.js'
import { quickToken } from '../access/quick-token.js'
import type { Edge } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { isNotModified } from '../files/conditional.js'
import type { FilePart } from '../tiles/load-tile.js'
import { OpenFile } from '../tiles/open-file.js'
import { active, countSent, guarded } from './exchange.js'
import type { HeaderBlock } from './header-block.js'
import { answerKnownRefusal } from './known-refusal.js'
import { onTileSlow } from './tiles.js'

/** One tile in this many is timed: two clock reads would be a measurable part of a hit. */
const SAMPLE_EVERY = 64
const NOT_MODIFIED = '304 Not Modified'

/** GET below `/tiles/`: at once where everything is known, otherwise the long way. */
export function onTile(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const sampled = edge.counters.requests % SAMPLE_EVERY === 0
  const startedAt = sampled ? performance.now() : 0
  if (!answerHot(edge, res, req) && !answerKnownRefusal(edge, res, req)) return onTileSlow(edge, res, req)
  if (sampled) edge.metrics.observe('tile', (performance.now() - startedAt) / 1000)
}

/**
 * The hot path: a tile in memory or in an open file, a token in memory. No promise, no query, no hashing. false: something is not plain,
 * nothing has been written, and the long way decides.
 */
function answerHot(edge: Edge, res: HttpResponse, req: HttpRequest): boolean {
  const now = Date.now()
  const path = req.getUrl()
  const tile = edge.hotTiles.get(path, edge.freshness.catalog, now)
  if (tile === undefined || edge.draining || now > edge.freshness.trustedUntilMs) return false
  const plaintext = quickToken(req.getHeader('authorization'), req.getHeader('x-access-token'), req.getQuery() ?? '')
  const token = plaintext === '' ? undefined : edge.tokens.get(plaintext)
  if (token === undefined || token === null) return false
  if (!decide(token, tile.basemap.wanted, 'read', now).ok) return false
  const { answer, body } = tile
  if (answer.gzip && !acceptsGzip(req.getHeader('accept-encoding'))) return false
  edge.nativeHot.noteToken(plaintext, token)
  const notModified = isNotModified(req.getHeader('if-none-match'), req.getHeader('if-modified-since'), answer)
  edge.counters.tokenHits++
  edge.counters.hotTileHits++
  edge.counters.tiles++
  edge.tokens.noteUsed(token, now)
  if (notModified) {
    res.writeStatus(NOT_MODIFIED).writeHeader(answer.notModified.name, answer.notModified.value).endWithoutBody()
    return true
  }
  if (body instanceof OpenFile) {
    sendFile(edge, res, path, answer.found, body.hold())
    return true
  }
  edge.counters.bytesSent += body.length
  res.writeHeader(answer.found.name, answer.found.value)
  if (!res.tryEnd(body, body.length)[1]) waitForRoom(edge, res, body)
  return true
}

function sendFile(edge: Edge, res: HttpResponse, path: string, headers: HeaderBlock, part: FilePart): void {
  active.add(res)
  res.writeHeader(headers.name, headers.value)
  edge.sender.send(res, part.fd, part.offset, part.length, {
    remote: part.remote,
    onDone: (outcome) => {
      part.release()
      active.delete(res)
      countSent(edge, path, outcome, part.length)
    },
  })
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
