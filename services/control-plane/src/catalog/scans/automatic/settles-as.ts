import type { SourceKind } from '@gateway/contracts/scan-source.js'
import { geopackagePlace } from '@gateway/tilesets/geopackage/place.js'

/**
 * Returns the path that settles and is then scanned after a change below a watched folder; null for everything. In a tile tree it is the folder of
 * the version, so that no version is served while its zooms are still being written.
 */
export function settlesAs(kind: SourceKind, changed: string): string | null {
  if (kind === 'vector') return changed
  // The styles of a source are few, and share fonts. The tables of a GeoPackage are basemaps, whose codes are known only from its content.
  if (kind === 'style' || geopackagePlace(changed) !== null) return null
  const [code, version] = changed.split('/') as [string, ...string[]]
  // The changed path is a zoom of the only version.
  return version === undefined || /^\d{1,2}$/.test(version) ? code : `${code}/${version}`
}
