import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Vector } from '@gateway/contracts/vector.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import { commonBounds } from '@gateway/tilesets/area.js'

/**
 * Restricts a basemap to the area of a token: bounds of each version are cut, and versions outside are omitted. Returns null if all versions are
 * outside. `area` null: everywhere.
 */
export function basemapWithin(stored: StoredBasemap, area: Bounds | null): StoredBasemap | null {
  if (area === null) return stored
  const versions = stored.versions.flatMap((version) => {
    const bounds = commonBounds(area, version.bounds)
    return bounds === null ? [] : [{ ...version, bounds }]
  })
  return versions.length === 0 && stored.versions.length > 0 ? null : { ...stored, versions }
}

/**
 * Restricts a vector in the same way. Returns null if it is outside. Unknown bounds stay unknown. Numbers that count the features outside are left
 * out.
 */
export function vectorWithin(vector: Vector, area: Bounds | null): Vector | null {
  if (area === null) return vector
  const bounds = vector.bounds === null ? null : commonBounds(area, vector.bounds)
  if (vector.bounds !== null && bounds === null) return null
  return { ...vector, bounds, feature_count: null, tiles: { ...vector.tiles, left_out: {} } }
}
