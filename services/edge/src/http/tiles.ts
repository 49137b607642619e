import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { gunzip } from 'node:zlib'
import { parseTileAddress } from '@gateway/tiles/address.js'
import { formatOfExtension } from '@gateway/tiles/formats.js'
import type { Catalog, CatalogBasemap, CatalogVersion } from '../catalog/catalog.js'
import type { Edge } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { isNotModified } from '../files/conditional.js'
import { HotTile, type TileAnswer } from '../tiles/hot-tiles.js'
import { type LoadedTile, readAll } from '../tiles/load-tile.js'
import { OpenFile } from '../tiles/open-file.js'
import type { LoadOutcome } from '../tiles/tile-loader.js'
import { authorize } from './authorize.js'
import { Exchange, guarded } from './exchange.js'
import type { HeaderBlock } from './header-block.js'
import {
  answerRefusal,
  DISK_BUSY,
  INTERNAL,
  MALFORMED_TILE,
  NOT_FOUND,
  OUT_OF_DESCRIPTORS,
  TILE_NOT_FOUND,
  UNDECODABLE,
} from './refusals.js'
import { tileAnswer } from './tile-answer.js'
import { parseTilePath, type TilePath } from './tile-path.js'
import { answerTileJson } from './tilejson.js'

type TileAddressPath = Extract<TilePath, { kind: 'tile' }>

/** Limit: a longer address is served, but not kept. */
const MAX_KEPT_PATH = 512
/** Limit: a vector tile unpacked for a client that refuses gzip. Real ones stay below 5 MB; a bomb must not fill the memory. */
const MAX_PLAIN_BYTES = 16 * 1024 * 1024
const OK = '200 OK'
const NOT_MODIFIED = '304 Not Modified'

/** Everything below `/tiles/` that is not answered from memory: HEAD, first requests, refusals, TileJSON. */
export function onTileSlow(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const exchange = new Exchange(edge, 'tile', res, req)
  const path = parseTilePath(exchange.path)
  switch (path.kind) {
    case 'absent':
      return answerRefusal(exchange, NOT_FOUND)
    case 'undecodable':
      return authorize(exchange, null, () => answerRefusal(exchange, UNDECODABLE))
    case 'tilejson':
      return authorize(exchange, wantedBasemap(edge, path.code), (fromQuery) =>
        answerTileJson(exchange, path, fromQuery),
      )
    case 'tile':
      return authorize(exchange, wantedBasemap(edge, path.code), () => answerTile(exchange, path))
  }
}

export function wantedBasemap(edge: Edge, code: string) {
  return edge.freshness.catalog.basemaps.get(code)?.wanted ?? { kind: 'basemap' as const, code }
}

function answerTile(exchange: Exchange, path: TileAddressPath) {
  const { edge } = exchange
  const { catalog } = edge.freshness
  const address = parseTileAddress(path.z, path.x, path.yDotExtension)
  if (!address.ok) return answerRefusal(exchange, address.reason === 'malformed' ? MALFORMED_TILE : TILE_NOT_FOUND)
  const basemap = catalog.basemaps.get(path.code)
  const version = basemap?.versions.get(path.version ?? 'current')
  if (basemap === undefined || version === undefined) return answerRefusal(exchange, TILE_NOT_FOUND)
  if (formatOfExtension(address.extension) !== version.stored.format) return answerRefusal(exchange, TILE_NOT_FOUND)
  const wanted: WantedTile = { catalog, basemap, version }
  let loaded: LoadedTile | null | 'not_now'
  try {
    loaded = edge.tiles.now(version, address)
  } catch (error) {
    return answerLoaded(exchange, wanted, { kind: 'failed', error })
  }
  if (loaded !== 'not_now') {
    return answerLoaded(exchange, wanted, loaded === null ? { kind: 'absent' } : { kind: 'tile', tile: loaded })
  }
  edge.counters.threadedTileLoads++
  edge.tiles.later(version, address, {
    isWanted: () => !exchange.aborted,
    settle: (outcome) => guarded(edge, () => answerLoaded(exchange, wanted, outcome)),
  })
}

/** What a tile was looked up by. */
interface WantedTile {
  readonly catalog: Catalog
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
}

function answerLoaded(exchange: Exchange, wanted: WantedTile, outcome: LoadOutcome) {
  switch (outcome.kind) {
    case 'tile':
      return sendTile(exchange, wanted, outcome.tile)
    case 'absent':
      return answerRefusal(exchange, TILE_NOT_FOUND)
    case 'busy':
      return answerRefusal(exchange, DISK_BUSY)
    case 'failed': {
      const { basemap, version } = wanted
      const names = { basemap: basemap.stored.code, version: version.stored.version }
      exchange.edge.log.error({ err: outcome.error, ...names }, 'a tile cannot be read')
      return answerRefusal(exchange, isOutOfDescriptors(outcome.error) ? OUT_OF_DESCRIPTORS : INTERNAL)
    }
  }
}

/** The limit of this process, or of the machine: over as soon as others have been answered. */
function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE'
}

function sendTile(exchange: Exchange, wanted: WantedTile, tile: LoadedTile) {
  const { version } = wanted
  exchange.edge.counters.tiles++
  const answer = tileAnswer(version, tile, tile.encoding === 'gzip')
  const body = kept(exchange, wanted, answer, tile)
  const plain = answer.gzip && !acceptsGzip(exchange.header('accept-encoding'))
  const current = plain ? tileAnswer(version, tile, false) : answer
  if (isNotModified(exchange.header('if-none-match'), exchange.header('if-modified-since'), current)) {
    if (!(body instanceof Uint8Array)) body.release()
    return exchange.answerEmpty(NOT_MODIFIED, current.notModified)
  }
  if (plain) return sendPlain(exchange, version, current.found, body)
  if (body instanceof Uint8Array) return exchange.answer(OK, answer.found, body)
  exchange.answerPart(OK, answer.found, body)
}

/**
 * Keeps a tile for the next requests; answers its body for this one. Not where the catalog has changed while the tile was loaded: its
 * address may mean another by now.
 */
function kept(exchange: Exchange, { catalog, basemap }: WantedTile, answer: TileAnswer, { body, file }: LoadedTile) {
  if (exchange.path.length > MAX_KEPT_PATH || catalog !== exchange.edge.freshness.catalog) return body
  const { hotTiles, nativeHot } = exchange.edge
  const now = Date.now()
  if (!(body instanceof Uint8Array)) {
    const open = new OpenFile(body)
    const held = open.hold()
    hotTiles.keep(exchange.path, catalog, new HotTile(open, answer, basemap, now))
    return held
  }
  const tile = new HotTile(body, answer, basemap, now)
  // Once it is in the native table, what comes here is rare: who still asks here finds it kept here as well, the next time.
  if (!nativeHot.offer(exchange.path, body, tile, file, now)) hotTiles.keep(exchange.path, catalog, tile)
  return body
}

/** Unpacks a stored tile for a client that refuses gzip: rare, so its cost is a thread's and nothing is kept. */
function sendPlain(exchange: Exchange, version: CatalogVersion, headers: HeaderBlock, body: LoadedTile['body']) {
  if (body instanceof Uint8Array) return unpackAndSend(exchange, headers, body)
  readPart(exchange, version, body).then(
    (read) =>
      guarded(exchange.edge, () => {
        if (read.ok && read.value !== null) unpackAndSend(exchange, headers, read.value)
        else answerRefusal(exchange, read.ok ? INTERNAL : DISK_BUSY)
      }),
    (error) => guarded(exchange.edge, () => failUnpacking(exchange, error)),
  )
}

function unpackAndSend(exchange: Exchange, headers: HeaderBlock, packed: Uint8Array) {
  gunzip(packed, { maxOutputLength: MAX_PLAIN_BYTES }, (error, plain) => {
    guarded(exchange.edge, () => {
      if (error === null) return exchange.answer(OK, headers, plain)
      failUnpacking(exchange, error)
    })
  })
}

function failUnpacking(exchange: Exchange, error: Error) {
  exchange.edge.log.error({ err: error.message, path: exchange.path }, 'a stored tile cannot be unpacked')
  answerRefusal(exchange, INTERNAL)
}

/** null: too large to be unpacked. The part is released when nobody reads from it any more. */
function readPart(exchange: Exchange, version: CatalogVersion, part: Exclude<LoadedTile['body'], Uint8Array>) {
  const read = async () => {
    try {
      return part.length > MAX_PLAIN_BYTES ? null : await readAll(part.fd, part.offset, part.length)
    } finally {
      part.release()
    }
  }
  return exchange.edge.disks.run(version.root, { read, discard: () => {}, isWanted: () => true })
}
