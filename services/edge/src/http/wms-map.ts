import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { PoolBusy } from '@gateway/core/processes/helper-pool.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { type DrawnLayer, MAX_TILE_BYTES, type PixelBox } from '@gateway/tilesets/maps/map-pool.js'
import { type PlannedTile, planTiles, type TilePlan } from '@gateway/tilesets/maps/plan.js'
import { boundsIn, type Picture, turnsOf } from '@gateway/tilesets/maps/positions.js'
import type { TilePlace } from '@gateway/tilesets/source.js'
import { matrixSetOf } from '@gateway/tilesets/tile-matrix-sets.js'
import { CORS, type HeaderBlock, headerBlock } from '../answers/header-block.js'
import { areaKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { PICTURE_WAIT_MS } from '../pictures/pictures.js'
import { tilesInRow } from '../pictures/square.js'
import { drawnNamed } from '../standards/wms-layers.js'
import { MAX_TILES, type WmsException, type WmsMap, wmsException } from '../standards/wms-request.js'
import type { CatalogBasemap, CatalogVersion } from '../sync/catalog.js'
import { type PictureKind, pictureOf } from '../sync/drawn-styles.js'
import type { LoadOutcome } from '../tiles/tile-loader.js'
import { answerCondition } from './answer-condition.js'
import { labelAt } from './at-time.js'
import { plainBytes } from './cut-tiles.js'
import { LATE, whyUndrawn } from './pictures.js'
import { answerRefusal, answerServiceException, INTERNAL } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { answerLoaded } from './tiles.js'

/** Number of tiles of a picture that are read at once, all of which are part of one turn of the event loop. */
const AT_ONCE = 16
/** Changes with the way in which pictures are drawn, so that copies of the old ones are not current. */
const DRAWING = 2
const RETRY_SECONDS = 2
const FULL: Refusal = { ...refuse('dependency_down', coded('maps_full')), retryAfterSeconds: RETRY_SECONDS }

/** A layer of a picture, with the tiles that it shows. */
interface Planned {
  readonly basemap: CatalogBasemap
  readonly version: CatalogVersion
  readonly plan: TilePlan
}

/** Sends the picture of a map. */
export function answerMap(exchange: RequestContext, request: WmsMap) {
  const layers = planLayers(exchange, request)
  if ('kind' in layers) return answerServiceException(exchange, layers)
  exchange.asked = layers[0]?.version.usage ?? null
  const etag = tagOf(exchange, request, layers)
  const headers = headersOf(request, etag)
  if (etag !== null && answerCondition(exchange, { etag, modifiedMs: Number.POSITIVE_INFINITY }, () => headers)) return
  draw(exchange, request, layers, headers).catch((error) => {
    noteTrouble(exchange.edge.log, 'maps cannot be drawn', { err: error, path: exchange.path }, 'error')
    guarded(exchange.edge, () => answerRefusal(exchange, INTERNAL))
  })
}

function planLayers(
  exchange: RequestContext,
  { version, layers, time, picture }: WmsMap,
): readonly Planned[] | WmsException {
  const { edge, area } = exchange
  const planned: Planned[] = []
  let tiles = 0
  for (const name of layers) {
    const drawn = drawnNamed(edge.freshness.catalog, name, edge.pictures.available)
    if (drawn === null) return wmsException(version, 'LayerNotDefined', whyNot(edge, name))
    const { basemap, current } = drawn
    const then = labelAt(edge, name, time)
    if (!then.ok)
      return wmsException(version, 'InvalidDimensionValue', then.message, then.code === 'not_found' ? 404 : 400)
    const shown = then.label === null ? current : basemap.versions.get(then.label)
    if (shown === undefined) return wmsException(version, 'LayerNotDefined', `LAYERS: ${name} has no version`)
    const { tileSize, minZoom, maxZoom, bounds } = shown.stored
    const source = { set: matrixSetOf(shown.stored), tileSize, minZoom, maxZoom, bounds }
    const plan = planTiles(picture, source, area, MAX_TILES - tiles)
    tiles += plan.count
    if (tiles > MAX_TILES) return tooManyTiles(version, name)
    planned.push({ basemap, version: shown, plan })
  }
  return planned
}

function whyNot(edge: Edge, name: string): string {
  const undrawn = drawnNamed(edge.freshness.catalog, name, true) === null ? null : whyUndrawn(edge)
  return `LAYERS: ${undrawn?.message ?? `no layer that is drawn has the name ${name}`}`
}

function tooManyTiles(version: WmsMap['version'], name: string): WmsException {
  const text = `with ${name}, the picture shows more than ${MAX_TILES} tiles; a smaller picture or a larger scale shows fewer`
  return wmsException(version, null, text)
}

/**
 * Returns the entity tag of a picture, which depends on the request, the content of its layers and the area of its reader. null: a layer is that of a
 * service, or shows something else whose content changes without a new revision.
 */
function tagOf({ area }: RequestContext, request: WmsMap, layers: readonly Planned[]): string | null {
  if (
    layers.some(({ version }) => version.stored.storage === 'upstream' || pictureOf(version)?.style.isLasting === false)
  )
    return null
  const content = layers.map(({ version: { stored } }) => [stored.fingerprint, stored.revision])
  return `"${digestOf([DRAWING, asOf(request), content, areaKey(area)])}"`
}

/** Returns the parts of a request on which its picture depends. */
function asOf({ kind, version, ...asked }: WmsMap): object {
  return asked
}

function digestOf(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 27)
}

function headersOf({ format }: WmsMap, etag: string | null): HeaderBlock {
  return headerBlock(
    ['Content-Type', CONTENT_TYPES[format]],
    ...(etag === null ? [] : [['ETag', etag] as const]),
    // The layers of an address may get other content at any time.
    ['Cache-Control', 'private, no-cache'],
    ['Vary', 'Authorization, X-Access-Token'],
    ...CORS,
  )
}

async function draw(
  exchange: RequestContext,
  request: WmsMap,
  planned: readonly Planned[],
  headers: HeaderBlock,
): Promise<void> {
  const { edge, token } = exchange
  const caller = token ?? ''
  for (const layer of planned) {
    const picture = pictureOf(layer.version)
    if (picture === undefined) continue
    const refused = await drawSquares(exchange, layer, picture.kind)
    if (refused !== null) return guarded(edge, refused)
    if (exchange.aborted) return
  }
  const release = await edge.maps.enter(caller)
  if (release === null) return guarded(edge, () => answerRefusal(exchange, FULL))
  try {
    const layers: DrawnLayer[] = []
    const contents: unknown[] = []
    let bytes = 0
    for (const layer of planned) {
      const read = await readTiles(exchange, layer)
      if ('answer' in read) return guarded(edge, read.answer)
      bytes += read.bytes
      if (bytes > MAX_TILE_BYTES) {
        const text = `the tiles of the picture have more than ${MAX_TILE_BYTES / 2 ** 20} MB; a smaller picture has fewer`
        return guarded(edge, () => answerServiceException(exchange, wmsException(request.version, null, text)))
      }
      layers.push(read.layer)
      contents.push([layer.version.contentId, read.identities])
    }
    if (exchange.aborted) return
    const { picture, format, transparent, background } = request
    const clip = exchange.area === null ? null : pixelBoxes(picture, exchange.area)
    const key = digestOf([asOf(request), areaKey(exchange.area), contents])
    const made = await edge.maps.draw(key, { picture, format, transparent, background, clip, layers }, caller)
    for (const { layer, x, y, reason } of made.faults) noteFault(exchange, planned[layer], x, y, reason)
    guarded(edge, () => {
      if (exchange.aborted) return
      edge.counters.tiles++
      exchange.answered = 'tile'
      exchange.answer('200 OK', headers, made.bytes)
    })
  } catch (error) {
    if (!(error instanceof PoolBusy)) throw error
    guarded(edge, () => answerRefusal(exchange, FULL))
  } finally {
    release()
  }
}

function noteFault(
  { edge, path }: RequestContext,
  layer: Planned | undefined,
  column: number,
  y: number,
  reason: string,
) {
  if (layer === undefined) return
  const { x = column } = layer.plan.tiles.find((tile) => tile.column === column && tile.y === y) ?? {}
  const names = { basemap: layer.basemap.stored.code, version: layer.version.stored.version }
  const tile = `${layer.plan.zoom}/${x}/${y}`
  edge.readTroubles.noteContent('tiles cannot be decoded', names, `${path} ${tile}`, new Error(reason))
}

type ReadTiles =
  | { readonly layer: DrawnLayer; readonly bytes: number; readonly identities: readonly string[] }
  | { readonly answer: () => void }

/**
 * Has the tiles of a style drawn, within the time that a request waits, or returns the answer that says why they are not. They take seconds, so that this comes
 * before the picture takes one of the few places of those under way. A later request finds them.
 */
async function drawSquares(
  exchange: RequestContext,
  planned: Planned,
  { tileSize, ratio }: PictureKind,
): Promise<(() => void) | null> {
  const { version, plan } = planned
  const end = performance.now() + PICTURE_WAIT_MS
  // A square is drawn for the first of its tiles.
  const inRow = tilesInRow(tileSize, ratio)
  const squares = new Map(
    plan.tiles.map((tile) => [`${Math.floor(tile.x / inRow)} ${Math.floor(tile.y / inRow)}`, tile]),
  )
  for (const { x, y } of squares.values()) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, end - performance.now(), null)
    })
    const drawing = loadTile(exchange, version, { z: plan.zoom, x, y })
    const outcome = await Promise.race([drawing, late]).finally(() => clearTimeout(timer))
    if (exchange.aborted) return null
    if (outcome === null) return () => answerRefusal(exchange, LATE)
    if (!('bytes' in outcome)) return answerOf(exchange, planned, { z: plan.zoom, x, y }, outcome)
  }
  return null
}

/** Returns the answer that says why a tile of a picture cannot be read; null: it does not exist, which is no fault. */
function answerOf(
  exchange: RequestContext,
  { basemap, version }: Planned,
  place: TilePlace,
  outcome: Exclude<LoadOutcome, { kind: 'tile' }>,
): (() => void) | null {
  if (outcome.kind === 'absent') return null
  const target = { ok: true, basemap, version, place, cacheControl: 'no-store', isShared: false } as const
  return () => answerLoaded(exchange, target, outcome)
}

/** Reads the tiles of a layer, or returns the answer that says why they cannot be read. */
async function readTiles(exchange: RequestContext, planned: Planned): Promise<ReadTiles> {
  const { version, plan } = planned
  const { zoom, grid, shrink } = plan
  const tiles: { x: number; y: number; bytes: Uint8Array }[] = []
  const identities: string[] = []
  let total = 0
  for (let from = 0; from < plan.tiles.length; from += AT_ONCE) {
    const places = plan.tiles.slice(from, from + AT_ONCE)
    const outcomes = await Promise.all(places.map(({ x, y }) => loadTile(exchange, version, { z: zoom, x, y })))
    // Tiles in memory would otherwise all be read in the same turn of the event loop.
    if (plan.tiles.length > AT_ONCE) await nextTurn()
    if (exchange.aborted) break
    for (const [i, outcome] of outcomes.entries()) {
      const { x, y, column } = places[i] as PlannedTile
      if ('bytes' in outcome) {
        const { bytes, identity } = outcome
        tiles.push({ x: column, y, bytes })
        identities.push(identity)
        total += bytes.length
      } else {
        identities.push('')
        const answer = answerOf(exchange, planned, { z: zoom, x, y }, outcome)
        if (answer !== null) return { answer }
      }
    }
  }
  const isNearest = isOfNumbers(version)
  return { layer: { grid, shrink, isNearest, tiles }, bytes: total, identities }
}

/** True for tiles whose colours encode heights. */
function isOfNumbers({ stored }: CatalogVersion): boolean {
  const { encoding } = (stored.metadata ?? {}) as { encoding?: unknown }
  return encoding === 'terrarium' || encoding === 'mapbox'
}

interface ReadTile {
  readonly bytes: Uint8Array
  readonly identity: string
}

async function loadTile(
  exchange: RequestContext,
  version: CatalogVersion,
  place: TilePlace,
): Promise<ReadTile | Exclude<LoadOutcome, { kind: 'tile' }>> {
  const { edge } = exchange
  const cached = edge.tiles.tileIfCached(version, place)
  if (cached === null) return { kind: 'absent' }
  const outcome =
    cached !== undefined
      ? ({ kind: 'tile', tile: cached } as const)
      : await new Promise<LoadOutcome>((settle) =>
          edge.tiles.load(version, place, {
            caller: exchange.token ?? '',
            isWanted: () => !exchange.aborted,
            settle,
          }),
        )
  if (outcome.kind !== 'tile') return outcome
  try {
    const bytes = await plainBytes(edge, { version }, outcome.tile)
    return bytes === 'busy' ? { kind: 'busy' } : { bytes, identity: outcome.tile.identity }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

/** Returns the pixels whose middle lies in an area of degrees (west above east: across the antimeridian), in every turn that the picture shows. */
function pixelBoxes(picture: Picture, area: Bounds): PixelBox[] {
  const { system, bounds, width, height } = picture
  const [west, south, east, north] = area
  const parts: Bounds[] =
    west > east
      ? [
          [west, south, 180, north],
          [-180, south, east, north],
        ]
      : [area]
  const [left, bottom, right, top] = bounds
  const turned = turnsOf(picture).flatMap((turn) => {
    return parts.map((part): Bounds => [part[0] + turn * 360, part[1], part[2] + turn * 360, part[3]])
  })
  return turned.map((part) => {
    const [a, b, c, d] = boundsIn(system, part)
    const column = (x: number) => pixelFrom(((x - left) / (right - left)) * width, width)
    const row = (y: number) => pixelFrom(((top - y) / (top - bottom)) * height, height)
    return { left: column(a), right: column(c), top: row(d), bottom: row(b) }
  })
}

/** Returns the first pixel whose middle lies at or after a position. */
function pixelFrom(position: number, count: number): number {
  return Math.min(count, Math.max(0, Math.ceil(position - 0.5)))
}
