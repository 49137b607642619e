import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import type { TilePath } from '@gateway/tilesets/address.js'
import { revisedTileUrlTemplate, tileJson } from '@gateway/tilesets/tilejson.js'
import type { Exchange } from './exchange.js'
import { CORS, headerBlock } from './header-block.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'

const HEADERS = headerBlock(['Content-Type', 'application/json; charset=utf-8'], ['Cache-Control', 'no-store'], ...CORS)

/**
 * TileJSON of a version, or of the default one. Its tile addresses name the version and its revision, so that a map is made of one content,
 * whatever becomes the default and whatever caches keep. A token that came in the query goes into the tile addresses in the same form, since a client that could set no header for this request can set none for tiles either.
 */
export function answerTileJson(exchange: Exchange, path: Extract<TilePath, { kind: 'tilejson' }>, fromQuery: boolean) {
  const { freshness, settings } = exchange.edge
  const basemap = freshness.catalog.basemaps.get(path.code)
  const version = basemap?.versions.get(path.version ?? CURRENT_VERSION)
  if (basemap === undefined || version === undefined) return answerRefusal(exchange, NOT_FOUND)
  exchange.asked = version.usage
  const { stored } = version
  const address = revisedTileUrlTemplate(settings.tilePublicBaseUrl, path.code, stored)
  const document = tileJson({ ...stored, name: basemap.stored.name }, [
    fromQuery ? `${address}&${tokenQuery(exchange.query)}` : address,
  ])
  exchange.answer('200 OK', HEADERS, JSON.stringify(document))
}

/** The parameter that carries the token of a request, to be put into other addresses. */
export function tokenQuery(query: string): string {
  const parameters = new URLSearchParams(query)
  const name = parameters.get('token') ? 'token' : 'access_token'
  return `${name}=${encodeURIComponent(parameters.get(name) ?? '')}`
}
