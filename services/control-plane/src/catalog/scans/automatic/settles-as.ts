import type { SourceKind } from '@gateway/contracts/scan-source.js'
import { geopackagePlace } from '@gateway/tilesets/geopackage/place.js'

/**
 * The path that a change below a watched folder settles with, and that is scanned then: of a tile tree the folder of the version, so that none is
 * served while its zooms are still written. null: everything is to be scanned.
 */
export function settlesAs(kind: SourceKind, changed: string): string | null {
  if (kind === 'vector') return changed
  // The styles of a source are few, and share fonts. The tables of a GeoPackage are basemaps, whose codes only its content tells.
  if (kind === 'style' || geopackagePlace(changed) !== null) return null
  const [code, version] = changed.split('/') as [string, ...string[]]
  // A zoom of the only version.
  return version === undefined || /^\d{1,2}$/.test(version) ? code : `${code}/${version}`
}
