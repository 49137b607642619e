import type { VectorFacts } from '@gateway/contracts/vector.js'
import type { StoredVersion } from '@gateway/store/basemaps.js'
import type { DrawnVector } from '@gateway/styles/default-styles.js'
import type { CatalogVector } from '../sync/catalog.js'

/** Returns what the plain style of a vector draws. */
export function drawnVector(
  { stored, factsText, tiles: built }: CatalogVector,
  places: Pick<DrawnVector, 'tileJsonUrl' | 'glyphs'>,
): DrawnVector {
  const tiles = built?.versions.get(built.stored.defaultVersion ?? '')?.stored
  const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
  const named = facts?.fields?.some((field) => field.name === 'name') ?? true
  // A vector whose tiles are not built yet has the layer of a file with a single one.
  const layers = tiles === undefined ? [{ id: stored.code, named }] : drawnLayers(tiles)
  return { name: stored.name, ...places, layers, bounds: facts?.bounds ?? tiles?.bounds ?? null }
}

/** Returns the layers of vector tiles, for a style that draws them with default symbols. */
export function drawnLayers({ vectorLayers }: Pick<StoredVersion, 'vectorLayers'>): DrawnVector['layers'] {
  return (vectorLayers ?? []).map(({ id, fields }) => ({ id, named: fields === undefined || 'name' in fields }))
}
