import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import type { LayerSpecification, SourceSpecification } from 'maplibre-gl'
import { tilePath } from '../api/preview.js'
import { GRID_PROTOCOL } from './grid-tile.js'
import type { MapContent } from './map-view.js'

/** Distinct beside one another on light and on dark ground. */
const COLOURS = ['#178c9c', '#c2571a', '#5f3dc4', '#2b8a3e', '#c2255c', '#1864ab', '#846a00', '#862e9c']

/** A version as the map draws it: images as they are; vector tiles with a colour for each of their layers. */
export function versionContent(
  code: string,
  version: BasemapVersion,
  vectorLayers: readonly string[],
  grid: boolean,
): MapContent {
  const path = tilePath(code, version.version, '{z}/{x}/{y}', version.format)
  // The browser keeps tiles for a year: another content has another address.
  const tiles = [`${window.location.origin}${path}?v=${version.revision}`]
  const range = { minzoom: version.min_zoom, maxzoom: version.max_zoom }
  // Across the antimeridian (west above east) a source's bounds would let no tile through.
  const bounds = version.bounds === null || version.bounds[0] > version.bounds[2] ? {} : { bounds: version.bounds }
  const gridSource: SourceSpecification = {
    type: 'raster',
    tiles: [`${GRID_PROTOCOL}://tile/{z}/{x}/{y}`],
    tileSize: version.tile_size,
    ...range,
  }
  const gridLayer: LayerSpecification = {
    id: 'grid',
    type: 'raster',
    source: 'grid',
    paint: { 'raster-fade-duration': 0 },
  }
  const withGrid = {
    sources: grid ? { grid: gridSource } : {},
    layers: grid ? [gridLayer] : [],
  }
  if (version.format === 'pbf') {
    return {
      sources: { version: { type: 'vector', tiles, ...range, ...bounds }, ...withGrid.sources },
      layers: [...vectorLayers.flatMap(layersOf), ...withGrid.layers],
    }
  }
  return {
    sources: {
      version: { type: 'raster', tiles, tileSize: version.tile_size, ...range, ...bounds },
      ...withGrid.sources,
    },
    layers: [{ id: 'version', type: 'raster', source: 'version' }, ...withGrid.layers],
  }
}

function layersOf(name: string, i: number): LayerSpecification[] {
  const colour = COLOURS[i % COLOURS.length] as string
  const common = { source: 'version', 'source-layer': name } as const
  return [
    {
      ...common,
      id: `${name} areas`,
      type: 'fill',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colour, 'fill-opacity': 0.25, 'fill-outline-color': colour },
    },
    {
      ...common,
      id: `${name} lines`,
      type: 'line',
      filter: ['!=', ['geometry-type'], 'Point'],
      paint: { 'line-color': colour, 'line-width': 1 },
    },
    {
      ...common,
      id: `${name} points`,
      type: 'circle',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': colour, 'circle-radius': 3, 'circle-stroke-width': 1, 'circle-stroke-color': '#fff' },
    },
  ]
}
