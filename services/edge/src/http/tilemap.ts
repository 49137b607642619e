import { setImmediate as nextTurn } from 'node:timers/promises'
import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { isInPyramid, MAX_ZOOM, parseIndex } from '@gateway/tilesets/address.js'
import { matrixSetOf, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import type { Layer } from '../standards/layer.js'
import type { TileTarget } from '../tiles/tile-cache.js'
import type { LoadOutcome } from '../tiles/tile-loader.js'
import { isOutsideZooms } from './missing-reasons.js'
import { answerRefusal, INTERNAL } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { findTarget, usageOf } from './tile-answer.js'
import { answerLoaded } from './tiles.js'

/**
 * Limit: rows and columns in one response. For a larger request the response contains only this many and says so (`adjusted`), as in Esri's
 * interface.
 */
const MAX_TILEMAP_SIDE = 32
/** Number of concurrent look-ups of tiles for one response, all of which are part of one turn of the event loop. */
const AT_ONCE = 16

const HEADERS = headerBlock(['Content-Type', 'application/json; charset=utf-8'], ['Cache-Control', 'no-store'], ...CORS)
const MALFORMED = refuse('invalid_parameters', coded('esri_tilemap'))

interface Area {
  readonly level: number
  readonly top: number
  readonly left: number
  readonly width: number
  readonly height: number
}

/** Sends the existing tiles of an area: `{level}/{row}/{column}/{width}/{height}`, row by row from the north-west, as 1 or 0. */
export function answerTilemap(exchange: RequestContext, layer: Layer, parts: readonly string[]) {
  const [level = -1, top = -1, left = -1, width = 0, height = 0] = parts.map(parseIndex)
  const area = { level, top, left, width, height }
  if (parts.length !== 5 || Math.min(level, top, left, width - 1, height - 1) < 0 || !Number.isFinite(sum(area)))
    return answerRefusal(exchange, MALFORMED)
  if (layer.drawn === undefined) exchange.asked = usageOf(exchange.edge, { code: layer.code, version: CURRENT_VERSION })
  collect(exchange, layer, area).catch((error) => {
    noteTrouble(exchange.edge.log, 'requests fail', { err: error, path: exchange.path }, 'error')
    guarded(exchange.edge, () => answerRefusal(exchange, INTERNAL))
  })
}

function sum({ level, top, left, width, height }: Area): number {
  return level + top + left + width + height
}

async function collect(exchange: RequestContext, layer: Layer, asked: Area): Promise<void> {
  const width = Math.min(asked.width, MAX_TILEMAP_SIDE)
  const height = Math.min(asked.height, MAX_TILEMAP_SIDE)
  const data = new Array<0 | 1>(width * height).fill(0)
  for (let from = 0; from < data.length; from += AT_ONCE) {
    const places = Array.from({ length: Math.min(AT_ONCE, data.length - from) }, (_, i) => from + i)
    const found = await Promise.all(
      places.map((i) =>
        lookFor(exchange, layer, {
          z: asked.level,
          x: asked.left + (i % width),
          y: asked.top + Math.floor(i / width),
        }),
      ),
    )
    // Look-ups that end at once would otherwise follow one another in the same turn of the event loop.
    await nextTurn()
    if (exchange.aborted) return
    for (const [i, one] of found.entries()) {
      if (one.kind === 'refused') return guarded(exchange.edge, one.answer)
      data[from + i] = one.kind === 'there' ? 1 : 0
    }
  }
  const adjusted = width < asked.width || height < asked.height
  const location = { left: asked.left, top: asked.top, width, height }
  guarded(exchange.edge, () =>
    exchange.answer('200 OK', HEADERS, JSON.stringify({ valid: true, adjusted, location, data })),
  )
}

type Found =
  | { readonly kind: 'there' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly answer: () => void }

const ABSENT: Found = { kind: 'absent' }

async function lookFor(
  exchange: RequestContext,
  { code, format, drawn, set: grid, maxZoom }: Layer,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
): Promise<Found> {
  const { edge } = exchange
  // A place that no grid has cannot be a tile; the target judges by the grid of the set.
  if (z > MAX_ZOOM || !isInPyramid(z, x, y, null)) return ABSENT
  // Every place is drawn when it is asked for.
  if (drawn !== undefined)
    return z <= maxZoom && (exchange.area === null || tileTouches(grid, { z, x, y }, exchange.area))
      ? { kind: 'there' }
      : ABSENT
  const address = { ok: true, z, x, y, suffix: '', extension: format } as const
  const target = findTarget(edge, { kind: 'tile', code, version: CURRENT_VERSION, address })
  if (!target.ok)
    return target.code === 'tile_not_found'
      ? ABSENT
      : { kind: 'refused', answer: () => answerRefusal(exchange, target) }
  const { path, bounds } = target.version.stored
  const set = matrixSetOf(target.version.stored)
  // The response does not reveal tiles outside of a token's area.
  const isInArea = exchange.area === null || tileTouches(set, target.place, exchange.area)
  if (!isInArea || isOutsideZooms(target.version, z)) return ABSENT
  // Each tile of a remote set would be a separate request, so the bounds of the set tell.
  if (isRemote(path)) return bounds === null || tileTouches(set, { z, x, y }, bounds) ? { kind: 'there' } : ABSENT
  const isThere = await edge.tiles.has(target.version, target.place)
  if (isThere === 'busy') return judge(exchange, target, { kind: 'busy' })
  if (isThere !== undefined) return isThere ? { kind: 'there' } : ABSENT
  return new Promise((resolve) =>
    edge.tiles.load(target.version, target.place, {
      isWanted: () => !exchange.aborted,
      settle: (outcome) => resolve(judge(exchange, target, outcome)),
    }),
  )
}

function judge(exchange: RequestContext, target: TileTarget, outcome: LoadOutcome): Found {
  if (outcome.kind === 'absent') return ABSENT
  if (outcome.kind !== 'tile') return { kind: 'refused', answer: () => answerLoaded(exchange, target, outcome) }
  if (!(outcome.tile.body instanceof Uint8Array)) outcome.tile.body.release()
  return { kind: 'there' }
}
