import type { StyleJson } from './style-json.js'

export const THEMES = ['light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

interface Colours {
  readonly ground: string
  readonly fill: string
  readonly outline: string
  readonly line: string
  readonly casing: string
  readonly point: string
  readonly text: string
  readonly halo: string
}

const COLOURS: Readonly<Record<Theme, Colours>> = {
  light: {
    ground: '#f7f6f3',
    fill: '#8fb8a8',
    outline: '#5c8a79',
    line: '#3b6ea5',
    casing: '#ffffff',
    point: '#c2543d',
    text: '#1f2933',
    halo: '#ffffff',
  },
  dark: {
    ground: '#14181d',
    fill: '#2f5d50',
    outline: '#63a08c',
    line: '#7fb2e5',
    casing: '#0b0e11',
    point: '#f0926f',
    text: '#e8edf2',
    halo: '#14181d',
  },
}

/** The font of all labels, which the gateway ships. */
const FONT = ['Noto Sans Regular']

export interface DrawnVector {
  readonly name: string
  /** where its data is: a TileJSON, or GeoJSON, which has no layers */
  readonly tileJsonUrl: string | null
  readonly geojsonUrl?: string
  readonly glyphs: string
  /** layers of its tiles; `named`: their features have a `name` */
  readonly layers: readonly { readonly id: string; readonly named: boolean }[]
  readonly bounds: readonly number[] | null
}

/** Returns a style that draws a vector plainly: areas, lines and points, and labels from `name`. */
export function vectorStyle(vector: DrawnVector, theme: Theme): StyleJson {
  const { name, tileJsonUrl, geojsonUrl, glyphs, layers, bounds } = vector
  const colours = COLOURS[theme]
  const placeOf = (layer: string) => ({ source: 'data', ...(tileJsonUrl !== null && { 'source-layer': layer }) })
  const drawn = layers.flatMap(({ id }) => drawLayer(id, placeOf(id), colours))
  const labels = layers.filter(({ named }) => named).flatMap(({ id }) => labelLayer(id, placeOf(id), colours))
  return {
    version: 8,
    name,
    ...view(bounds),
    ...(labels.length > 0 && { glyphs }),
    sources: {
      data: tileJsonUrl === null ? { type: 'geojson', data: geojsonUrl } : { type: 'vector', url: tileJsonUrl },
    },
    layers: [background(colours), ...drawn, ...labels],
  }
}

/** Returns a style that shows raster tiles. */
export function rasterStyle(name: string, tileJsonUrl: string, tileSize: number, theme: Theme): StyleJson {
  return {
    version: 8,
    name,
    sources: { tiles: { type: 'raster', url: tileJsonUrl, tileSize } },
    layers: [background(COLOURS[theme]), { id: 'tiles', type: 'raster', source: 'tiles' }],
  }
}

function background({ ground }: Colours) {
  return { id: 'background', type: 'background', paint: { 'background-color': ground } }
}

/** Returns the initial camera of a map: the middle, at a zoom that shows the whole. */
function view(bounds: readonly number[] | null) {
  if (bounds === null) return {}
  const [west = 0, south = 0, east = 0, north = 0] = bounds
  const span = Math.max((east - west) / 360, (north - south) / 170, 1e-6)
  const zoom = Math.max(0, Math.min(16, Math.log2(1 / span)))
  return { center: [(west + east) / 2, (south + north) / 2], zoom: Math.round(zoom * 10) / 10 }
}

const byGeometry = (type: 'Polygon' | 'LineString' | 'Point') => ['==', ['geometry-type'], type]

function drawLayer(layer: string, source: object, { fill, outline, line, casing, point }: Colours) {
  const width = (factor: number) => [
    'interpolate',
    ['exponential', 1.5],
    ['zoom'],
    4,
    0.5 * factor,
    10,
    1.2 * factor,
    18,
    8 * factor,
  ]
  const round = { 'line-cap': 'round', 'line-join': 'round' }
  return [
    {
      id: `${layer} areas`,
      type: 'fill',
      ...source,
      filter: byGeometry('Polygon'),
      paint: { 'fill-color': fill, 'fill-opacity': ['interpolate', ['linear'], ['zoom'], 4, 0.75, 14, 0.5] },
    },
    {
      id: `${layer} borders`,
      type: 'line',
      ...source,
      filter: byGeometry('Polygon'),
      layout: round,
      paint: { 'line-color': outline, 'line-width': width(0.4) },
    },
    {
      id: `${layer} casings`,
      type: 'line',
      ...source,
      minzoom: 9,
      filter: byGeometry('LineString'),
      layout: round,
      paint: { 'line-color': casing, 'line-width': width(1.7) },
    },
    {
      id: `${layer} lines`,
      type: 'line',
      ...source,
      filter: byGeometry('LineString'),
      layout: round,
      paint: { 'line-color': line, 'line-width': width(1) },
    },
    {
      id: `${layer} points`,
      type: 'circle',
      ...source,
      filter: byGeometry('Point'),
      paint: {
        'circle-color': point,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 4, 1.5, 10, 3, 16, 6],
        'circle-stroke-color': casing,
        'circle-stroke-width': ['interpolate', ['linear'], ['zoom'], 8, 0.3, 14, 1.2],
      },
    },
  ]
}

function labelLayer(layer: string, source: object, { text, halo }: Colours) {
  const paint = { 'text-color': text, 'text-halo-color': halo, 'text-halo-width': 1.4 }
  const common = {
    'text-field': ['to-string', ['coalesce', ['get', 'name'], '']],
    'text-font': FONT,
    'text-size': ['interpolate', ['linear'], ['zoom'], 6, 11, 16, 14],
  }
  return [
    {
      id: `${layer} names along lines`,
      type: 'symbol',
      ...source,
      minzoom: 10,
      filter: byGeometry('LineString'),
      layout: { ...common, 'symbol-placement': 'line', 'symbol-spacing': 300, 'text-padding': 4 },
      paint,
    },
    {
      id: `${layer} names`,
      type: 'symbol',
      ...source,
      filter: ['!=', ['geometry-type'], 'LineString'],
      layout: {
        ...common,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 0.6,
        'text-max-width': 9,
        'text-padding': 4,
      },
      paint,
    },
  ]
}
