import type { Bounds } from '@gateway/contracts/basemap.js'
import type { UsageCellKind, UsageCells } from '@gateway/contracts/usage.js'
import type { FeatureCollection, Polygon } from 'geojson'
import type { LayerSpecification } from 'maplibre-gl'
import type { Overlay } from '../../map/version-content.js'

export type HeatCell = UsageCells['features'][number]

/** Colours from few to many, distinct on images and for colour-blind users (ColorBrewer, YlOrRd and PuBu). */
export const HEAT_COLOURS: Readonly<Record<UsageCellKind, readonly string[]>> = {
  requests: ['#ffffb2', '#fecc5c', '#fd8d3c', '#f03b20', '#bd0026'],
  misses: ['#f1eef6', '#bdc9e1', '#74a9cf', '#2b8cbe', '#045a8d'],
}

export const CELLS = 'cells'

export function amountOf({ properties }: HeatCell, kind: UsageCellKind): number {
  return kind === 'misses' ? properties.tile_404 : properties.requests
}

export function boundsOfCell({ geometry }: HeatCell): Bounds {
  const ring = geometry.coordinates[0] as readonly (readonly number[])[]
  const [west = 0, south = 0] = ring[0] ?? []
  const [east = 0, north = 0] = ring[2] ?? []
  return [west, south, east, north]
}

/**
 * Returns a step for each cell, from 0 to the number of colours minus one. Steps depend on the requests per area, since a cell of a low
 * zoom is large. The scale is logarithmic, since some places get a thousand times as many requests as others.
 */
export function stepsOf(cells: readonly HeatCell[], kind: UsageCellKind): number[] {
  const densities = cells.map((cell) => {
    const { z, tile_matrix_set: grid } = cell.properties
    // A tile of the geographic grids is as wide as a Web Mercator tile of the next zoom.
    return Math.log2(amountOf(cell, kind)) + 2 * (grid === 'WebMercatorQuad' ? z : z + 1)
  })
  const lowest = Math.min(...densities)
  const span = Math.max(...densities) - lowest
  const last = HEAT_COLOURS[kind].length - 1
  return densities.map((density) => (span === 0 ? last : Math.round(((density - lowest) / span) * last)))
}

/** Returns the cells as a map overlay, the small ones above the large ones. */
export function heatOverlay(cells: readonly HeatCell[], kind: UsageCellKind): Overlay {
  const steps = stepsOf(cells, kind)
  const colours = HEAT_COLOURS[kind]
  const features = cells
    .map((cell, i) => {
      const step = steps[i] as number
      return { ...cell, properties: { ...cell.properties, step, colour: colours[step] as string } }
    })
    .sort((one, other) => one.properties.z - other.properties.z)
  const layer: LayerSpecification = {
    id: CELLS,
    type: 'fill',
    source: CELLS,
    paint: {
      'fill-color': ['get', 'colour'],
      // Large cells with few requests are nearly transparent and hide little of the map.
      'fill-opacity': ['interpolate', ['linear'], ['get', 'step'], 0, 0.25, colours.length - 1, 0.6],
      'fill-antialias': false,
    },
  }
  const data = { type: 'FeatureCollection', features } as FeatureCollection<Polygon>
  return { sources: { [CELLS]: { type: 'geojson', data } }, layers: [layer] }
}
