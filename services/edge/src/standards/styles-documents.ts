import { MOST_LATITUDE, MOST_ZOOM } from '@gateway/contracts/drawing.js'
import type { StyleJson } from '@gateway/styles/style-json.js'
import type { CatalogStyle } from '../sync/catalog.js'
import { type Addresses, addressOf } from './layer.js'
import { jsonPieces, remembered } from './remembered.js'

/** Documents of OGC API – Styles (OGC 20-009), a draft, as the version 0.0 of its conformance classes shows. */
export const STYLES_CONFORMANCE = ['core', 'json', 'mapbox-styles'].map(
  (name) => `http://www.opengis.net/spec/ogcapi-styles-1/0.0/conf/${name}`,
)
export const STYLES_REL = 'http://www.opengis.net/def/rel/ogc/1.0/styles'
export const STYLES_PATH = '/ogc/styles'
export const STYLE_TYPE = 'application/vnd.mapbox.style+json'
const JSON_TYPE = 'application/json'
/** Points of a preview. */
const PREVIEW_SIZE = '600x400'
const WORLD = '0,0,0'

/**
 * Returns the list of styles, in pieces.
 * @param hasPictures true: this host draws styles, and the reader may see all of a picture
 */
export function stylesPieces(
  styles: readonly CatalogStyle[],
  addresses: Addresses,
  hasPictures: boolean,
): Iterable<string> {
  const links = [{ rel: 'self', href: addressOf(addresses, STYLES_PATH), type: JSON_TYPE }]
  const itemOf = hasPictures ? drawnStyleItem : styleItem
  return jsonPieces(
    { links },
    'styles',
    styles.map((style) => itemOf(style, addresses)),
  )
}

const itemMaker = (hasPictures: boolean) =>
  remembered<string, CatalogStyle>((style, addresses) =>
    JSON.stringify({ id: style.stored.code, title: style.stored.name, links: linksOf(style, addresses, hasPictures) }),
  )
const styleItem = itemMaker(false)
const drawnStyleItem = itemMaker(true)

export function styleMetadata(style: CatalogStyle, addresses: Addresses, hasPictures: boolean): object {
  const { code, name, document, createdAt, updatedAt } = style.stored
  const links = linksOf(style, addresses, hasPictures)
  const [stylesheet] = links
  const { layers } = JSON.parse(document) as StyleJson
  const drawn = Array.isArray(layers) ? (layers as { id: string; type: string; 'source-layer'?: string }[]) : []
  return {
    id: code,
    title: name,
    scope: 'style',
    dates: { creation: createdAt, revision: updatedAt },
    stylesheets: [
      {
        title: 'MapLibre style',
        version: '8',
        specification: 'https://maplibre.org/maplibre-style-spec/',
        native: true,
        link: stylesheet,
      },
    ],
    layers: drawn.map((layer) => ({ id: layer.id, type: KINDS[layer.type] ?? 'unspecified' })),
    links,
  }
}

const KINDS: Readonly<Record<string, string>> = { fill: 'polygon', line: 'line', circle: 'point', raster: 'raster' }

function linksOf({ stored: { code, document } }: CatalogStyle, addresses: Addresses, hasPictures: boolean) {
  const path = `${STYLES_PATH}/${encodeURIComponent(code)}`
  return [
    { rel: 'stylesheet', href: addressOf(addresses, path), type: STYLE_TYPE },
    { rel: 'describedby', href: addressOf(addresses, `${path}/metadata`), type: JSON_TYPE },
    ...(hasPictures ? [previewLink(code, startView(JSON.parse(document) as StyleJson), addresses)] : []),
  ]
}

/** Returns the view with which a style opens. */
function startView({ center, zoom }: StyleJson): string {
  const [longitude, latitude] = Array.isArray(center) ? center : []
  const isPlace = Math.abs(longitude) <= 180 && Math.abs(latitude) <= MOST_LATITUDE
  const isZoom = typeof zoom === 'number' && zoom >= 0 && zoom <= MOST_ZOOM
  return isPlace && isZoom ? `${longitude},${latitude},${zoom}` : WORLD
}

/** Returns the link to a static map of a style, or of the plain style of a vector. @param view as static maps write it */
export function previewLink(code: string, view: string, addresses: Addresses) {
  const path = `/styles/${encodeURIComponent(code)}/static/${view}/${PREVIEW_SIZE}.png`
  return { rel: 'preview', href: addressOf(addresses, path), type: 'image/png' }
}
