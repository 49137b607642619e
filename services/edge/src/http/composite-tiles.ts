import { createHash } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment, isInPyramid } from '@gateway/tilesets/address.js'
import { boundsAround, commonBounds } from '@gateway/tilesets/area.js'
import { isExtensionOf } from '@gateway/tilesets/formats.js'
import type { Tile } from '@gateway/tilesets/source.js'
import { TILE_MATRIX_SETS, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { joinedAttribution, tileJson } from '@gateway/tilesets/tilejson.js'
import { layerNames } from '@gateway/vectors/tiles/features-within.js'
import { areaKey, areaTag } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { CachedTile, type TileTarget } from '../tiles/tile-cache.js'
import { type Ask, admit } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { loadPlain, type PlainOutcome, packTile } from './cut-tiles.js'
import { answerDocument, SECRET_PLACE } from './document.js'
import { isOutsideZooms, outsideGrid, outsideZooms, shownName, wrongExtension } from './missing-reasons.js'
import { answerRefusal, MALFORMED_TILE } from './refusals.js'
import { guarded, RequestContext } from './request-context.js'
import { tileAnswer, wantedVector } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'
import { answerEmptyTile, answerLoaded, sendPrepared } from './tiles.js'
import {
  answerNoTiles,
  askVectorTile,
  askVectorTileJson,
  onVectorTile,
  onVectorTileJson,
  type ServedTiles,
  servedTiles,
  targetOf,
  vectorTileAddress,
} from './vector-tiles.js'

const VECTORS = '/vectors/'
const SEPARATOR = ','
/** Limit: vectors of one tile, each of which is read for it. */
const MAX_VECTORS = 16

/** Returns the codes of an address of several vectors; null: it names one vector, whose code may contain a comma too. */
function codesOf(edge: Edge, path: string): readonly string[] | null {
  const code = decodedSegment(path.slice(VECTORS.length).split('/', 1)[0] ?? '')
  if (code === null || !code.includes(SEPARATOR) || edge.freshness.catalog.vectors.has(code)) return null
  return code.split(SEPARATOR)
}

/** Handles GET and HEAD of `/vectors/{code}/tiles/{z}/{x}/{y}.mvt`, and of `/vectors/{a},{b}/tiles/...`: the layers of several vectors in one tile. */
export function onVectorTiles(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const codes = codesOf(edge, req.getUrl())
  if (codes === null) return onVectorTile(edge, res, req)
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  admit(exchange, askTiles(edge, codes, exchange.path), () => {
    const { address } = vectorTileAddress(exchange.path)
    if (address === null || (!address.ok && address.reason === 'malformed'))
      return answerRefusal(exchange, MALFORMED_TILE)
    const members = membersOf(exchange, codes)
    if (members === null) return
    const [first] = members as readonly [Member]
    if (!address.ok || !isInPyramid(address.z, address.x, address.y))
      return answerRefusal(exchange, outsideGrid(TILE_MATRIX_SETS.WebMercatorQuad, address.z))
    if (address.suffix !== '' || !isExtensionOf(address.extension, 'pbf'))
      return answerRefusal(exchange, wrongExtension(first.version))
    const inZooms = members.filter(({ version }) => !isOutsideZooms(version, address.z))
    if (inZooms.length === 0) return answerRefusal(exchange, outsideZooms(first.version))
    void answerTile(
      exchange,
      inZooms.map((member) => targetOf(exchange, member.code, member, address)),
    )
  })
}

/** Returns the request of a tile of one or several vectors. */
export function askVectorTiles(edge: Edge, path: string): Ask {
  const codes = codesOf(edge, path)
  return codes === null ? askVectorTile(edge, path) : askTiles(edge, codes, path)
}

function askTiles(edge: Edge, codes: readonly string[], path: string): Ask {
  const { address } = vectorTileAddress(path)
  const reach = (area: Bounds) => !address?.ok || tileTouches(TILE_MATRIX_SETS.WebMercatorQuad, address, area)
  return { wanted: wantedOf(edge, codes), signable: null, reach }
}

function wantedOf(edge: Edge, codes: readonly string[]): Ask['wanted'] {
  return { kind: 'all', of: codes.map((code) => wantedVector(edge, code)) }
}

interface Member extends ServedTiles {
  readonly code: string
}

/** Returns the vectors of a composite; null if a refusal has been sent instead. */
function membersOf(exchange: RequestContext, codes: readonly string[]): readonly Member[] | null {
  const { edge } = exchange
  // As of maps of several layers, the first one is accounted for.
  if (edge.freshness.catalog.vectors.has(codes[0] ?? '')) exchange.asked = `vector:${codes[0]}`
  const refused = (refusal: Refusal) => {
    answerRefusal(exchange, refusal)
    return null
  }
  if (codes.length > MAX_VECTORS)
    return refused(refuse('invalid_parameters', coded('composite_many', { limit: MAX_VECTORS })))
  const members: Member[] = []
  for (const code of codes) {
    const served = servedTiles(edge, code)
    if (served === null) {
      answerNoTiles(exchange, code)
      return null
    }
    members.push({ ...served, code })
  }
  const names = members.flatMap(({ version }) => (version.stored.vectorLayers ?? []).map(({ id }) => id))
  const twice = twiceIn(names) ?? twiceIn(codes)
  return twice === null ? members : refused(sameLayer(twice))
}

function twiceIn(names: readonly string[]): string | null {
  return names.find((name, i) => names.indexOf(name) !== i) ?? null
}

/** The layers of a tile have different names (Mapbox Vector Tile 2.1, section 4.1). */
function sameLayer(name: string): Refusal {
  return refuse('invalid_parameters', coded('composite_same_layer', { name: shownName(name) }))
}

async function answerTile(exchange: RequestContext, targets: readonly TileTarget[]): Promise<void> {
  const { edge } = exchange
  const waiter = { caller: exchange.token ?? '', isWanted: () => !exchange.aborted }
  const parts = await Promise.all(targets.map((target) => loadPlain(edge, target, exchange.area, waiter)))
  // A vector without a feature in this tile has no layer in it.
  const failed = parts.findIndex(({ kind }) => kind !== 'plain' && kind !== 'absent')
  const read = parts.filter((part) => part.kind === 'plain')
  const target = strictest(targets)
  try {
    const twice = twiceIn(read.flatMap(({ bytes }) => layerNames(bytes)))
    const body = Buffer.concat(read.map(({ bytes }) => bytes))
    const inGzip = acceptsGzip(exchange.header('accept-encoding'))
    const sent = inGzip ? await packTile(body) : body
    guarded(edge, () => {
      if (exchange.aborted) return
      const why = parts[failed]
      if (why !== undefined && why.kind !== 'plain') return answerLoaded(exchange, targets[failed] as TileTarget, why)
      if (twice !== null) return answerRefusal(exchange, sameLayer(twice))
      if (body.length === 0) return answerEmptyTile(exchange, target)
      const tile = { ...joined(read, exchange.area), body: sent }
      edge.counters.tiles++
      exchange.answered = 'tile'
      sendPrepared(exchange, new CachedTile(sent, tileAnswer(target, tile, inGzip), target, performance.now()))
    })
  } catch (error) {
    guarded(edge, () => !exchange.aborted && answerLoaded(exchange, target, { kind: 'failed', error }))
  }
}

/** Returns what is true of a tile that consists of others. */
function joined(parts: readonly Extract<PlainOutcome, { kind: 'plain' }>[], area: Bounds | null): Omit<Tile, 'body'> {
  const tiles = parts.map(({ tile }) => tile)
  const identities = tiles.map(({ identity }) => identity).join()
  const seconds = tiles.flatMap(({ currentForSeconds }) => currentForSeconds ?? [])
  const leftOut = tiles.reduce((sum, tile) => sum + (tile.leftOut ?? 0), 0)
  return {
    ...{ format: 'pbf', encoding: 'gzip', file: null },
    identity: createHash('sha1')
      .update(`${identities} ${area === null ? '' : areaTag(area)}`)
      .digest('hex'),
    modifiedMs: Math.max(...tiles.map(({ modifiedMs }) => modifiedMs)),
    isStale: tiles.some(({ isStale }) => isStale === true),
    ...(seconds.length > 0 && { currentForSeconds: Math.min(...seconds) }),
    ...(leftOut > 0 && { leftOut }),
  }
}

/** Returns the target whose responses caches keep for the shortest time. */
function strictest(targets: readonly TileTarget[]): TileTarget {
  const seconds = ({ cacheControl }: TileTarget) =>
    /\bno-/.test(cacheControl) ? 0 : Number(/\bmax-age=(\d+)/.exec(cacheControl)?.[1] ?? 0)
  return targets.reduce((least, one) => (seconds(one) < seconds(least) ? one : least))
}

/** Handles GET and HEAD of `/vectors/{code}/tilejson.json`, and of `/vectors/{a},{b}/tilejson.json`. */
export function onVectorTileJsons(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const codes = codesOf(edge, req.getUrl())
  if (codes === null) return onVectorTileJson(edge, res, req)
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  admit(exchange, askTileJson(edge, codes), (fromQuery) => {
    const { area } = exchange
    const members = membersOf(exchange, codes)
    if (members === null) return
    const isSeen = ({ version }: Member) => area === null || commonBounds(area, version.stored.bounds) !== null
    if (!members.some(isSeen)) return answerRefusal(exchange, OUTSIDE_AREA)
    const base = `${edge.settings.vectorPublicBaseUrl}/vectors/${codes.map(encodeURIComponent).join(SEPARATOR)}/tiles/{z}/{x}/{y}.mvt`
    const address = `${base}?v=${members.map(({ version }) => version.stored.revision).join('.')}`
    answerDocument(exchange, {
      of: edge.freshness.catalog,
      key: `tilejson ${codes.join('/')}${areaKey(area)}`,
      grows: false,
      contentType: 'application/json; charset=utf-8',
      text: () =>
        JSON.stringify(tileJson(described(members, area), [fromQuery ? `${address}&${SECRET_PLACE}` : address])),
      inserted: fromQuery ? tokenQuery(exchange.query) : '',
    })
  })
}

/** Returns the request of the TileJSON of one or several vectors. */
export function askVectorTileJsons(edge: Edge, path: string): Ask {
  const codes = codesOf(edge, path)
  return codes === null ? askVectorTileJson(edge, path) : askTileJson(edge, codes)
}

function askTileJson(edge: Edge, codes: readonly string[]): Ask {
  const reach = (area: Bounds) =>
    codes.some((code) => commonBounds(area, servedTiles(edge, code)?.version.stored.bounds ?? null) !== null)
  return { wanted: wantedOf(edge, codes), signable: null, reach }
}

function described(members: readonly Member[], area: Bounds | null): Parameters<typeof tileJson>[0] {
  const stored = members.map(({ version }) => version.stored)
  const [first] = stored as [(typeof stored)[number]]
  const extents = stored.map((one) => (area === null ? one.bounds : commonBounds(area, one.bounds)))
  // Vectors outside of the area have no extent there.
  const bounds = boundsAround(area === null ? extents : extents.filter((one) => one !== null))
  return {
    ...first,
    name: members.map(({ basemap }) => basemap.stored.name).join(', '),
    minZoom: Math.min(...stored.map(({ minZoom }) => minZoom)),
    maxZoom: Math.max(...stored.map(({ maxZoom }) => maxZoom)),
    bounds: area === null ? bounds : commonBounds(area, bounds),
    attribution: joinedAttribution(stored.map(({ attribution }) => attribution)),
    description: null,
    metadata: {},
    vectorLayers: stored.flatMap(({ vectorLayers }) => vectorLayers ?? []),
  }
}
