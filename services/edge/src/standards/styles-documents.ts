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

/** Returns the list of styles, in pieces. */
export function stylesPieces(styles: readonly CatalogStyle[], addresses: Addresses): Iterable<string> {
  const links = [{ rel: 'self', href: addressOf(addresses, STYLES_PATH), type: JSON_TYPE }]
  return jsonPieces(
    { links },
    'styles',
    styles.map((style) => styleItem(style, addresses)),
  )
}

const styleItem = remembered<string, CatalogStyle>(({ stored: { code, name } }, addresses) =>
  JSON.stringify({ id: code, title: name, links: linksOf(code, addresses) }),
)

export function styleMetadata({ stored }: CatalogStyle, addresses: Addresses): object {
  const { code, name, document, createdAt, updatedAt } = stored
  const [stylesheet] = linksOf(code, addresses)
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
    links: linksOf(code, addresses),
  }
}

const KINDS: Readonly<Record<string, string>> = { fill: 'polygon', line: 'line', circle: 'point', raster: 'raster' }

function linksOf(code: string, addresses: Addresses) {
  const path = `${STYLES_PATH}/${encodeURIComponent(code)}`
  return [
    { rel: 'stylesheet', href: addressOf(addresses, path), type: STYLE_TYPE },
    { rel: 'describedby', href: addressOf(addresses, `${path}/metadata`), type: JSON_TYPE },
  ]
}
