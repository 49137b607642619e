import { type AccessToken, isGranted } from '@gateway/core/access/decide.js'
import { decodedSegment, parseTilePath } from '@gateway/tilesets/address.js'
import type { Edge } from '../edge.js'
import { type Layer, layerOf, layerOfDrawn, stylePath } from '../standards/layer.js'
import { drawnStyle } from '../sync/drawn-styles.js'
import type { Ask } from './authorize.js'
import type { Reach } from './authorize-signed.js'
import { answerPicture, askPicture, pictureAddress, whyUndrawn } from './pictures.js'
import { answerRefusal, MALFORMED_TILE, NOT_FOUND } from './refusals.js'
import type { RequestContext } from './request-context.js'
import { wantedBasemap } from './tile-answer.js'
import { answerTile } from './tiles.js'

const STYLES = '/styles/'

/** Returns the layer of a code in the standard services: that of a basemap, or else of the pictures of a style or a vector; null: nothing has tiles there. */
export function layerAt({ freshness: { catalog } }: Edge, code: string): Layer | null {
  const basemap = catalog.basemaps.get(code)
  if (basemap !== undefined) return layerOf(basemap)
  const style = drawnStyle(catalog, code)
  return style === null ? null : layerOfDrawn(style)
}

/** Returns the layer of a code that a token may read and that is served here, or null. */
export function readableLayerAt(edge: Edge, code: string, token: AccessToken): Layer | null {
  const layer = layerAt(edge, code)
  const { drawn } = layer ?? {}
  if (!isGranted(token, drawn?.wanted ?? wantedBasemap(edge, code))) return null
  if (drawn === undefined) return layer
  return edge.pictures.available ? layer : null
}

/** Returns the request of a layer, or of its tile at the route of tiles or of styles. */
export function askLayer(edge: Edge, code: string, tile: string | undefined): Ask {
  const drawn = edge.freshness.catalog.basemaps.has(code) ? null : drawnStyle(edge.freshness.catalog, code)
  if (drawn === null) return { wanted: wantedBasemap(edge, code), signable: null, reach: reachOf(tile, code) }
  const ask: Ask = { wanted: drawn.wanted, signable: null, reach: 'cut' }
  const picture = tile === undefined ? null : pictureOf(tile).picture
  return picture === null ? ask : { ...askPicture(edge, code, picture, '', ask), signable: null }
}

/** Returns the part of a basemap that a request needs: the tile at a path of the tile route, or otherwise a document about its default version. */
function reachOf(tilePath: string | undefined, code: string): Reach {
  const tile = tilePath === undefined ? null : parseTilePath(tilePath)
  return tile?.kind === 'tile' ? tile : { code, version: null }
}

/** Refuses a layer that is drawn on a host that draws none. Returns true if it has. */
export function refuseUndrawn(exchange: RequestContext, layer: Layer | null): boolean {
  const undrawn = layer?.drawn === undefined ? null : whyUndrawn(exchange.edge)
  if (undrawn !== null) answerRefusal(exchange, undrawn)
  return undrawn !== null
}

/** Returns the address of a tile at the route that serves it. `place` is `{z}/{x}/{y}.{ext}`. */
export function tilePath({ code, drawn }: Layer, place: string): string {
  return drawn === undefined ? `/tiles/${encodeURIComponent(code)}/current/${place}` : `${stylePath(code)}/${place}`
}

/**
 * Sends the tile of an address of another route.
 * @param tile the address of the tile, if it differs between readers
 */
export function answerTilePath(exchange: RequestContext, tile = exchange.path): void {
  exchange.path = tile
  if (tile.startsWith(STYLES)) {
    const { code, picture } = pictureOf(tile)
    if (picture === null) answerRefusal(exchange, MALFORMED_TILE)
    else answerPicture(exchange, code, picture, false)
    return
  }
  const path = parseTilePath(tile)
  if (path.kind === 'tile') answerTile(exchange, path)
  else answerRefusal(exchange, NOT_FOUND)
}

function pictureOf(tile: string) {
  const [code = '', ...place] = tile.slice(STYLES.length).split('/')
  return { code: decodedSegment(code) ?? '', picture: pictureAddress(place) }
}
