import type { ComparedZoom } from '@gateway/contracts/comparison.js'
import type { FeatureCollection, Polygon } from 'geojson'
import { type TileSet, tileBounds } from './tile-address.js'
import type { Overlay } from './version-content.js'

export const DIFFERENCES = ['different', 'only_left', 'only_right'] as const
export type Difference = (typeof DIFFERENCES)[number]

/** Colours that remain distinct without red or green vision. */
export const DIFFERENCE_COLOURS: Readonly<Record<Difference, string>> = {
  different: '#e8590c',
  only_left: '#862e9c',
  only_right: '#1971c2',
}

/** Draws the differing tiles of one zoom over the map. If not every tile was compared, it draws the block that one represents. */
export function differencesLayer(compared: ComparedZoom, set: Pick<TileSet, 'columns'>): Overlay {
  const data: FeatureCollection<Polygon> = {
    type: 'FeatureCollection',
    features: DIFFERENCES.flatMap((kind) =>
      compared[kind].map(([x, y]) => ({
        type: 'Feature' as const,
        properties: { colour: DIFFERENCE_COLOURS[kind] },
        geometry: { type: 'Polygon' as const, coordinates: [ring(compared, x, y, set)] },
      })),
    ),
  }
  return {
    sources: { differences: { type: 'geojson', data } },
    layers: [
      {
        id: 'differences',
        type: 'fill',
        source: 'differences',
        paint: { 'fill-color': ['get', 'colour'], 'fill-opacity': 0.45 },
      },
      { id: 'edges', type: 'line', source: 'differences', paint: { 'line-color': ['get', 'colour'], 'line-width': 1 } },
    ],
  }
}

function ring({ zoom: z, step }: ComparedZoom, x: number, y: number, set: Pick<TileSet, 'columns'>): number[][] {
  const before = Math.floor((step - 1) / 2)
  const last = 2 ** z - 1
  const within = (index: number, most: number) => Math.max(0, Math.min(most, index))
  const columns = set.columns * 2 ** z - 1
  const first = tileBounds({ z, x: within(x - before, columns), y: within(y - before, last) }, set)
  const end = tileBounds({ z, x: within(x - before + step - 1, columns), y: within(y - before + step - 1, last) }, set)
  const [west, north, east, south] = [first[0], first[3], end[2], end[1]]
  return [
    [west, north],
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
}
