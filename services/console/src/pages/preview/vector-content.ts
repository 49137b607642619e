import type { LayerSpecification } from 'maplibre-gl'
import { segment } from '../../api/client.js'
import type { MapContent } from '../../map/map-view.js'

/** Colours that are distinct next to one another, on light and on dark ground. */
const COLOURS = ['#178c9c', '#c2571a', '#5f3dc4', '#2b8a3e', '#c2255c', '#1864ab', '#846a00', '#862e9c']

/** A vector that has no tiles, as one GeoJSON document. */
export function wholeContent(code: string): MapContent {
  const data = `${window.location.origin}/vectors/${segment(code)}.geojson`
  return { sources: { vector: { type: 'geojson', data } }, layers: layersOf(null, colourOf(code, 0)) }
}

/** A vector by its tiles. */
export function vectorContent(
  code: string,
  names: readonly string[],
  { minZoom, maxZoom }: { readonly minZoom: number; readonly maxZoom: number },
): MapContent {
  const tiles = [`${window.location.origin}/vectors/${segment(code)}/tiles/{z}/{x}/{y}.mvt`]
  return {
    sources: { vector: { type: 'vector', tiles, minzoom: minZoom, maxzoom: maxZoom } },
    layers: names.flatMap((name, i) => layersOf(name, colourOf(code, i))),
  }
}

/** Returns a colour by the code, so that two vectors of one map can be distinguished. */
function colourOf(code: string, i: number): string {
  const first = [...code].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  return COLOURS[(first + i) % COLOURS.length] as string
}

/** @param name null: GeoJSON has no layers */
function layersOf(name: string | null, colour: string): LayerSpecification[] {
  const common = { source: 'vector', ...(name !== null && { 'source-layer': name }) }
  return [
    {
      ...common,
      id: `${name ?? ''} areas`,
      type: 'fill',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colour, 'fill-opacity': 0.25 },
    },
    {
      ...common,
      id: `${name ?? ''} lines`,
      type: 'line',
      filter: ['!=', ['geometry-type'], 'Point'],
      paint: { 'line-color': colour, 'line-width': 1.2 },
    },
    {
      ...common,
      id: `${name ?? ''} points`,
      type: 'circle',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': colour, 'circle-radius': 4, 'circle-stroke-width': 1, 'circle-stroke-color': '#fff' },
    },
  ]
}
