import type { AdminVector } from '@gateway/contracts/vector.js'
import type { Feature, FeatureCollection } from 'geojson'
import type { LayerSpecification } from 'maplibre-gl'
import { segment } from '../../api/client.js'
import type { MapContent } from '../../map/map-view.js'
import { vectorLayersOf } from '../../map/version-content.js'

/** The colour of chosen features, over the colours of layers. */
const CHOSEN = '#d6336c'
const SOURCE = 'vector'
const CHOSEN_SOURCE = 'chosen'

/** A vector by its tiles, with a colour for each of its layers. */
export function tileContent(vector: AdminVector, layers: readonly string[]): MapContent {
  const { code, revision, tiles } = vector
  // The browser keeps tiles for a year: another content has another address.
  const template = `${window.location.origin}/vectors/${segment(code)}/tiles/{z}/{x}/{y}.mvt?v=${revision}`
  const range = { minzoom: tiles.min_zoom ?? 0, maxzoom: tiles.max_zoom ?? 0 }
  return {
    sources: { [SOURCE]: { type: 'vector', tiles: [template], ...range } },
    layers: layers.flatMap((name, i) => vectorLayersOf(SOURCE, name, i)),
  }
}

/** A vector by its own features, if it has no tiles. */
export function featureContent(data: FeatureCollection): MapContent {
  return { sources: { [SOURCE]: { type: 'geojson', data } }, layers: vectorLayersOf(SOURCE, null, 0) }
}

/** Returns the same content with the chosen features on top. */
export function withChosen(content: MapContent, features: readonly Feature[]): MapContent {
  const data: FeatureCollection = { type: 'FeatureCollection', features: [...features] }
  return {
    ...content,
    sources: { ...content.sources, [CHOSEN_SOURCE]: { type: 'geojson', data } },
    layers: [...content.layers, ...CHOSEN_LAYERS],
  }
}

/** True if a layer of the map shows the vector itself. */
export function isOfVector({ source }: { readonly source?: unknown }): boolean {
  return source === SOURCE
}

const CHOSEN_LAYERS: readonly LayerSpecification[] = [
  {
    id: 'chosen areas',
    type: 'fill',
    source: CHOSEN_SOURCE,
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': CHOSEN, 'fill-opacity': 0.25 },
  },
  {
    id: 'chosen lines',
    type: 'line',
    source: CHOSEN_SOURCE,
    filter: ['!=', ['geometry-type'], 'Point'],
    paint: { 'line-color': CHOSEN, 'line-width': 2.5 },
  },
  {
    id: 'chosen points',
    type: 'circle',
    source: CHOSEN_SOURCE,
    filter: ['==', ['geometry-type'], 'Point'],
    paint: { 'circle-color': CHOSEN, 'circle-radius': 6, 'circle-stroke-width': 2, 'circle-stroke-color': '#fff' },
  },
]
