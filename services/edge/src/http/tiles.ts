import { gunzip } from 'node:zlib'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { parseTilePath, type TilePath } from '@gateway/tilesets/address.js'
import { isCutByFeatures } from '@gateway/tilesets/formats.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { Tile } from '@gateway/tilesets/source.js'
import { liesWithin, matrixSetOf, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { QueryError } from '@gateway/vectors/query/cql2/expression.js'
import { CORS, type HeaderBlock, headerBlock } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { VECTOR_TILES_CODE } from '../sync/catalog.js'
import { OpenFile } from '../tiles/open-file.js'
import { isStorageTrouble } from '../tiles/read-troubles.js'
import type { CachedTile, TileTarget } from '../tiles/tile-cache.js'
import type { LoadOutcome } from '../tiles/tile-loader.js'
import { answerCondition } from './answer-condition.js'
import { atIn, isUnfixed, labelAt } from './at-time.js'
import { ANY_TOKEN, type Ask, authorize } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { cutKey, cutTile, MAX_PLAIN_BYTES, readPart } from './cut-tiles.js'
import {
  answerRefusal,
  DISK_BUSY,
  INTERNAL,
  NO_TILE_ADDRESS,
  OUT_OF_DESCRIPTORS,
  STORAGE_DOWN,
  UNDECODABLE,
} from './refusals.js'
import { guarded, RequestContext } from './request-context.js'
import { absentTile, findTarget, prepareTile, tileAnswer, usageOf, wantedBasemap } from './tile-answer.js'
import { answerTileJson } from './tilejson.js'

const OK = '200 OK'

/** Returns the request of an address below `/tiles/`; null: the read interface does not have it. `onTile` does not call it for a tile, since each hit would allocate the result. */
export function askTile(edge: Edge, path: string): Ask | null {
  const asked = parseTilePath(path)
  if (asked.kind === 'absent') return null
  if (asked.kind === 'undecodable') return ANY_TOKEN
  const signable = asked.kind === 'tile' ? asked : { code: asked.code, version: asked.version }
  return { wanted: wantedBasemap(edge, asked.code), signable, reach: signable }
}

/** Handles GET and HEAD of everything below `/tiles/`, synchronously if the token is known and the tile is in memory or in the page cache. */
export function onTile(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const path = parseTilePath(exchange.path)
  switch (path.kind) {
    case 'absent':
      return answerRefusal(exchange, NO_TILE_ADDRESS)
    case 'undecodable':
      return authorize(exchange, null, () => answerRefusal(exchange, UNDECODABLE))
    case 'tilejson':
      return authorize(
        exchange,
        wantedBasemap(edge, path.code),
        (fromQuery) => answerTileJson(exchange, path, fromQuery),
        { code: path.code, version: path.version },
      )
    case 'tile':
      return authorize(exchange, wantedBasemap(edge, path.code), () => answerTile(exchange, path), path)
  }
}

/** Sends the tile of an address, for a caller who may read it. */
export function answerTile(exchange: RequestContext, asked: Extract<TilePath, { kind: 'tile' }>) {
  const time = isUnfixed(asked.version) ? atIn(exchange.query) : null
  if (time === null) return answerTileOf(exchange, asked)
  const then = labelAt(exchange.edge, asked.code, time)
  if (!then.ok) return answerRefusal(exchange, then)
  answerTileOf(exchange, then.label === null ? asked : atVersion(exchange, asked, then.label))
}

/** Sends the tile of a fixed version for an address that names none. */
function atVersion(
  exchange: RequestContext,
  path: Extract<TilePath, { kind: 'tile' }>,
  version: string,
): Extract<TilePath, { kind: 'tile' }> {
  const place = exchange.path.split('/').slice(-3).join('/')
  exchange.path = `/tiles/${encodeURIComponent(path.code)}/${encodeURIComponent(version)}/${place}`
  return { ...path, version }
}

function answerTileOf(exchange: RequestContext, path: Extract<TilePath, { kind: 'tile' }>) {
  const { edge } = exchange
  exchange.asked = usageOf(edge, path)
  // Checks the version that is sent, for every form of the request.
  if (exchange.area !== null) {
    const found = findTarget(edge, path, true, exchange.reader)
    if (!found.ok) return answerRefusal(exchange, found)
    const set = matrixSetOf(found.version.stored)
    if (!tileTouches(set, found.place, exchange.area)) return answerRefusal(exchange, OUTSIDE_AREA)
  }
  // A signed URL opens its own resource, and must not disclose others.
  answerFrom(exchange, () => findTarget(edge, path, exchange.token !== '', exchange.reader))
}

/** Sends a tile for a caller who may read it: from memory, or from its set. */
export function answerFrom(exchange: RequestContext, find: () => TileTarget | Refusal) {
  if (exchange.area !== null) {
    const target = find()
    if (!target.ok) return answerRefusal(exchange, target)
    if (isCutByFeatures(target.version.stored.format) && !isWholeIn(target, exchange.area))
      return answerCut(exchange, target, exchange.area)
  }
  const { edge, path } = exchange
  const now = performance.now()
  const kept = edge.hotTiles.get(path, edge.freshness.catalog, now)
  if (kept !== undefined && !mustUnpack(exchange, kept)) {
    edge.counters.tiles++
    edge.counters.hotTileHits++
    exchange.answered = 'tile'
    exchange.tileFrom = 'memory'
    return sendPrepared(exchange, kept)
  }
  const target = find()
  if (!target.ok) return answerRefusal(exchange, target)
  const tile = edge.tiles.tileIfCached(target.version, target.place)
  // Includes the directories that were read on the way to it, and tiles requested by WMTS, so that the native tier then answers these requests
  // itself.
  if (target.isShared && target.isNative !== false)
    edge.native.registerTileset(path, target, edge.tiles.opened(target.version), now)
  if (tile === undefined) return load(exchange, target)
  if (tile === null) return answerLoaded(exchange, target, { kind: 'absent' })
  exchange.tileFrom = 'page_cache'
  answerLoaded(exchange, target, { kind: 'tile', tile })
}

/** Usual limit of a vector tile's buffer, in units of a tile: 256 of 4,096. */
const BUFFER = 1 / 16

/** True for a MapLibre Tile that is inside of an area with its buffer. Nothing cuts such tiles. */
function isWholeIn({ version, place }: TileTarget, area: Bounds): boolean {
  return version.stored.format === 'mlt' && liesWithin(matrixSetOf(version.stored), place, area, BUFFER)
}

/** Sends a vector tile with only the features that touch the area of the caller. */
function answerCut(exchange: RequestContext, target: TileTarget, area: Bounds) {
  const { edge, path } = exchange
  const inGzip = acceptsGzip(exchange.header('accept-encoding'))
  const key = cutKey(area, inGzip)
  const { catalog } = edge.freshness
  const kept = edge.hotTiles.getCut(path, key, catalog, performance.now())
  if (kept !== undefined) {
    edge.counters.hotTileHits++
    exchange.tileFrom = 'memory'
    return sendCut(exchange, target, kept)
  }
  const cutting = cutTile(edge, target, area, inGzip, () => !exchange.aborted)
  // An area is no box in a set's own grid.
  if (cutting === null) return answerRefusal(exchange, OUTSIDE_AREA)
  void cutting.then((outcome) =>
    guarded(edge, () => {
      if (outcome.kind !== 'cut') return answerLoaded(exchange, target, outcome)
      edge.hotTiles.keepCut(path, key, edge.freshness.catalog, target, outcome.tile)
      if (!exchange.aborted) sendCut(exchange, target, outcome.tile)
    }),
  )
}

function sendCut(exchange: RequestContext, target: TileTarget, tile: CachedTile) {
  if (tile.body instanceof Uint8Array && tile.body.length === 0) return answerEmptyTile(exchange, target)
  exchange.edge.counters.tiles++
  exchange.answered = 'tile'
  sendPrepared(exchange, tile)
}

/** Sends 204 for an empty tile inside the grid and the zooms of a vector, which is not an error. */
export function answerEmptyTile(exchange: RequestContext, { cacheControl }: TileTarget) {
  exchange.edge.counters.tiles++
  exchange.answered = 'tile'
  const vary = ['Vary', 'Authorization, X-Access-Token, Accept-Encoding'] as const
  exchange.answerEmpty('204 No Content', headerBlock(['Cache-Control', cacheControl], vary, ...CORS))
}

function load(exchange: RequestContext, target: TileTarget) {
  const { edge } = exchange
  edge.counters.threadedTileLoads++
  const begunAt = performance.now()
  let isLate = false
  const { waits } = target
  const refuseLate = () => {
    isLate = true
    if (waits !== undefined && !exchange.aborted) guarded(edge, () => answerRefusal(exchange, waits.late))
  }
  const timer = waits === undefined ? null : setTimeout(refuseLate, waits.ms)
  edge.tiles.load(target.version, target.place, {
    caller: exchange.token ?? '',
    isWanted: () => !exchange.aborted && !isLate,
    settle: (outcome) => {
      if (timer !== null) clearTimeout(timer)
      if (outcome.kind === 'tile') {
        edge.counters.threadedTiles++
        edge.counters.tileTimes.of('thread').add((performance.now() - begunAt) / 1000)
      }
      guarded(edge, () => answerLoaded(exchange, target, outcome))
    },
  })
}

export function answerLoaded(exchange: RequestContext, target: TileTarget, outcome: LoadOutcome) {
  switch (outcome.kind) {
    case 'tile':
      return sendTile(exchange, target, outcome.tile)
    case 'absent':
      if (target.basemap.stored.code.startsWith(VECTOR_TILES_CODE)) return answerEmptyTile(exchange, target)
      return answerRefusal(exchange, absentTile(exchange.edge.settings, target))
    case 'busy':
      return answerRefusal(exchange, DISK_BUSY)
    case 'failed': {
      const { counters, readTroubles } = exchange.edge
      if (isStorageTrouble(outcome.error)) {
        counters.storageRefusals++
        readTroubles.noteStorage(target.version.root, outcome.error)
        return answerRefusal(exchange, STORAGE_DOWN)
      }
      if (outcome.error instanceof QueryError)
        return answerRefusal(exchange, refuse('invalid_parameters', outcome.error.said))
      if (outcome.error instanceof TileNotMade) {
        readTroubles.noteContent('tiles cannot be made', namesOf(target), exchange.path, outcome.error.message)
        return answerRefusal(exchange, notMade(outcome.error))
      }
      readTroubles.noteContent('tiles cannot be read', namesOf(target), exchange.path, outcome.error)
      return answerRefusal(exchange, isOutOfDescriptors(outcome.error) ? OUT_OF_DESCRIPTORS : INTERNAL)
    }
  }
}

export function notMade({ status, said, retryAfterSeconds }: TileNotMade): Refusal {
  return { ...refuse(CODE_OF_STATUS[status], said), retryAfterSeconds }
}

const CODE_OF_STATUS = { 502: 'upstream_wrong', 503: 'dependency_down', 504: 'upstream_silent' } as const

function namesOf({ basemap, version }: TileTarget) {
  return { basemap: basemap.stored.code, version: version.stored.version }
}

/** True at the limit of this process, or of the machine, which ends as soon as other requests have been answered. */
function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE'
}

function sendTile(exchange: RequestContext, target: TileTarget, tile: Tile) {
  const { edge, path } = exchange
  edge.counters.tiles++
  exchange.answered = 'tile'
  const prepared = prepareTile(target, tile, performance.now())
  if (mustUnpack(exchange, prepared)) sendPlain(exchange, target, tile, prepared)
  else sendPrepared(exchange, prepared)
  edge.hotTiles.keep(path, edge.freshness.catalog, target, prepared, tile)
}

function mustUnpack(exchange: RequestContext, { answer }: CachedTile): boolean {
  return answer.gzip && !acceptsGzip(exchange.header('accept-encoding'))
}

export function sendPrepared(exchange: RequestContext, { answer, body }: CachedTile) {
  if (answerCondition(exchange, answer, () => answer.notModified)) return
  if (body instanceof OpenFile) exchange.answerPart(OK, answer.found, body.acquire())
  else exchange.answer(OK, answer.found, body)
}

/** Unpacks a stored tile for a client that refuses gzip. This is rare, so a thread does the work, and the result is not cached. */
function sendPlain(exchange: RequestContext, target: TileTarget, tile: Tile, prepared: CachedTile) {
  const { found, notModified, ...validators } = tileAnswer(target, tile, false)
  if (answerCondition(exchange, validators, () => notModified)) return
  if (!(prepared.body instanceof OpenFile)) return unpackAndSend(exchange, target, found, prepared.body)
  const part = prepared.body.acquire()
  exchange.edge.disks.run(target.version.root, { read: () => readPart(part) }).then(
    (read) =>
      guarded(exchange.edge, () => {
        if (read.ok && read.value !== null) unpackAndSend(exchange, target, found, read.value)
        else answerRefusal(exchange, read.ok ? INTERNAL : DISK_BUSY)
      }),
    (error) => guarded(exchange.edge, () => failUnpacking(exchange, target, error)),
  )
}

function unpackAndSend(exchange: RequestContext, target: TileTarget, headers: HeaderBlock, packed: Uint8Array) {
  gunzip(packed, { maxOutputLength: MAX_PLAIN_BYTES }, (error, plain) => {
    guarded(exchange.edge, () => {
      if (error === null) return exchange.answer(OK, headers, plain)
      failUnpacking(exchange, target, error)
    })
  })
}

function failUnpacking(exchange: RequestContext, target: TileTarget, error: Error) {
  exchange.edge.readTroubles.noteContent('stored tiles cannot be unpacked', namesOf(target), exchange.path, error)
  answerRefusal(exchange, INTERNAL)
}
