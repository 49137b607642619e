import type { StoredVersion } from '@gateway/store/basemaps.js'
import type { DrawnVector } from '@gateway/styles/default-styles.js'

/** Returns the layers of vector tiles, for a style that draws them with default symbols. */
export function drawnLayers({ vectorLayers }: Pick<StoredVersion, 'vectorLayers'>): DrawnVector['layers'] {
  return (vectorLayers ?? []).map(({ id, fields }) => ({ id, named: fields === undefined || 'name' in fields }))
}
