import type { LayerSpecification } from 'maplibre-gl'
import type { MapContent } from './map-view.js'

/** Properties of the library that say how much of a layer is seen. */
const OPACITIES = {
  raster: ['raster-opacity'],
  fill: ['fill-opacity'],
  line: ['line-opacity'],
  circle: ['circle-opacity', 'circle-stroke-opacity'],
} as const

/** Several maps in one, the lowest first. All lie in the same plane. `opacity`: 0 to 1 */
export function stacked(maps: readonly { readonly content: MapContent; readonly opacity: number }[]): MapContent {
  const projection = maps[0]?.content.projection
  const minZoom = Math.max(0, ...maps.map(({ content }) => content.minZoom ?? 0))
  return {
    ...(projection !== undefined && { projection }),
    ...(minZoom > 0 && { minZoom }),
    sources: Object.fromEntries(
      maps.flatMap(({ content }, i) =>
        Object.entries(content.sources).map(([name, source]) => [`${i} ${name}`, source]),
      ),
    ),
    layers: maps.flatMap(({ content, opacity }, i) =>
      content.layers.map((layer) => faded({ ...layer, id: `${i} ${layer.id}`, ...sourceOf(layer, i) }, opacity)),
    ),
  }
}

function sourceOf(layer: LayerSpecification, i: number) {
  return 'source' in layer ? { source: `${i} ${layer.source}` } : {}
}

function faded(layer: LayerSpecification, opacity: number): LayerSpecification {
  const names: readonly string[] = OPACITIES[layer.type as keyof typeof OPACITIES] ?? []
  const paint: Readonly<Record<string, unknown>> = layer.paint ?? {}
  const own = (name: string) => (typeof paint[name] === 'number' ? paint[name] : 1)
  const changed = Object.fromEntries(names.map((name) => [name, own(name) * opacity]))
  return { ...layer, paint: { ...paint, ...changed } } as LayerSpecification
}
