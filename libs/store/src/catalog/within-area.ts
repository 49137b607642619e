import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Vector } from '@gateway/contracts/vector.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import { commonBounds } from '@gateway/tilesets/area.js'

/**
 * A basemap as a token with an area sees it: the bounds of each version are cut to the area, and versions that lie outside are left out. null: all of
 * them do. `area` null: everywhere.
 */
export function basemapWithin(stored: StoredBasemap, area: Bounds | null): StoredBasemap | null {
  if (area === null) return stored
  const versions = stored.versions.flatMap((version) => {
    const bounds = commonBounds(area, version.bounds)
    return bounds === null ? [] : [{ ...version, bounds }]
  })
  return versions.length === 0 && stored.versions.length > 0 ? null : { ...stored, versions }
}

/** A vector as such a token sees it; null: it lies outside. Bounds that are not known stay so. */
export function vectorWithin(vector: Vector, area: Bounds | null): Vector | null {
  if (area === null || vector.bounds === null) return vector
  const bounds = commonBounds(area, vector.bounds)
  return bounds === null ? null : { ...vector, bounds }
}
