import type { BasemapVersion, Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import type { FeatureCollection, Polygon } from 'geojson'
import type { LayerSpecification, SourceSpecification } from 'maplibre-gl'
import { tilePath } from '../api/preview.js'
import { columnsOf, drawnLatitude, flippedTemplate, GEOGRAPHIC, squareTemplate } from './geographic.js'
import { GRID_PROTOCOL } from './grid-tile.js'
import { isVector } from './is-vector.js'
import type { MapContent } from './map-view.js'

/** Colours that are distinct from each other on light and dark ground. */
const COLOURS = ['#178c9c', '#c2571a', '#5f3dc4', '#2b8a3e', '#c2255c', '#1864ab', '#846a00', '#862e9c']

/** How tiles are requested if they are drawn differently from the way they are served. */
export interface ServedAs {
  readonly format: TileFormat
  /** true if rows are served in the opposite order */
  readonly flipped: boolean
}

/** Returns a version's map content: images unchanged, and vector tiles with a colour for each of their layers. */
export function versionContent(
  code: string,
  version: BasemapVersion,
  vectorLayers: readonly string[],
  grid: boolean,
  served: ServedAs = { format: version.format, flipped: false },
): MapContent {
  const path = tilePath(code, version.version, '{z}/{x}/{y}', served.format)
  const geographic = columnsOf(version) === 2
  const tilesAt = (template: string) => [geographic ? squareTemplate(template) : template]
  // The browser caches tiles for a year, so another content has another URL.
  const asked = tilesAt(`${window.location.origin}${path}?v=${version.revision}`)
  const tiles = served.flipped ? asked.map(flippedTemplate) : asked
  const shift = geographic ? 1 : 0
  const range = { minzoom: version.min_zoom + shift, maxzoom: version.max_zoom + shift }
  const bounds = boundsOf(version, geographic)
  const gridSource: SourceSpecification = {
    type: 'raster',
    tiles: tilesAt(`${GRID_PROTOCOL}://tile/{z}/{x}/{y}`),
    tileSize: version.tile_size,
    ...range,
    // Avoids requests south of the pole, where no tiles exist.
    ...(geographic && { bounds: WORLD }),
  }
  const gridLayer: LayerSpecification = {
    id: 'grid',
    type: 'raster',
    source: 'grid',
    paint: { 'raster-fade-duration': 0 },
  }
  const plane = geographic ? { projection: GEOGRAPHIC.name } : {}
  const withGrid = {
    sources: grid ? { grid: gridSource } : {},
    layers: grid ? [gridLayer] : [],
  }
  if (isVector(version.format)) {
    return {
      ...plane,
      // For vector tiles the map uses the lower zoom, and in its square the world has two tiles at zoom 1.
      ...(geographic && { minZoom: 1 }),
      drawnFrom: range.minzoom,
      sources: { version: { type: 'vector', tiles, ...range, ...bounds }, ...withGrid.sources },
      layers: [...vectorLayers.flatMap((name, i) => vectorLayersOf('version', name, i)), ...withGrid.layers],
    }
  }
  return {
    ...plane,
    // A zoom of the map is one of tiles of 512 pixels.
    drawnFrom: range.minzoom - Math.log2(512 / version.tile_size),
    sources: {
      version: { type: 'raster', tiles, tileSize: version.tile_size, ...range, ...bounds },
      ...withGrid.sources,
    },
    layers: [{ id: 'version', type: 'raster', source: 'version' }, ...withGrid.layers],
  }
}

/** Areas above a version, in longitude and latitude. */
export interface Overlay extends MapContent {
  readonly sources: Readonly<Record<string, { readonly type: 'geojson'; readonly data: FeatureCollection<Polygon> }>>
}

/** Adds an overlay, moved to the places where the version's plane shows them. */
export function withOverlay(content: MapContent, { sources, layers }: Overlay): MapContent {
  const drawn = content.projection === undefined ? sources : inPlane(sources)
  return { ...content, sources: { ...content.sources, ...drawn }, layers: [...content.layers, ...layers] }
}

export function inPlane(sources: Overlay['sources']): Overlay['sources'] {
  const ring = (points: number[][]) => points.map(([lon = 0, lat = 0]) => [lon, drawnLatitude(lat)])
  return Object.fromEntries(
    Object.entries(sources).map(([name, { type, data }]) => {
      const features = data.features.map(({ geometry, ...feature }) => ({
        ...feature,
        geometry: { ...geometry, coordinates: geometry.coordinates.map(ring) },
      }))
      return [name, { type, data: { ...data, features } }]
    }),
  )
}

const WORLD: Bounds = [-180, -90, 180, 90]

/** With bounds across the antimeridian (west greater than east) a source would load no tile. */
function boundsOf({ bounds }: BasemapVersion, geographic: boolean): { readonly bounds?: Bounds } {
  if (bounds !== null && bounds[0] <= bounds[2]) return { bounds }
  return geographic ? { bounds: WORLD } : {}
}

/**
 * Areas, lines and points of one layer of vector tiles.
 * @param name of the layer; null: the source is GeoJSON, which has none
 * @param i among the layers of the source: another one has another colour
 */
export function vectorLayersOf(source: string, name: string | null, i: number): LayerSpecification[] {
  const colour = COLOURS[i % COLOURS.length] as string
  const common = { source, ...(name !== null && { 'source-layer': name }) }
  return [
    {
      ...common,
      id: `${name ?? source} areas`,
      type: 'fill',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colour, 'fill-opacity': 0.25, 'fill-outline-color': colour },
    },
    {
      ...common,
      id: `${name ?? source} lines`,
      type: 'line',
      filter: ['!=', ['geometry-type'], 'Point'],
      paint: { 'line-color': colour, 'line-width': 1 },
    },
    {
      ...common,
      id: `${name ?? source} points`,
      type: 'circle',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': colour, 'circle-radius': 3, 'circle-stroke-width': 1, 'circle-stroke-color': '#fff' },
    },
  ]
}
