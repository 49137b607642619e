const EXTENSION = '.gpkg'

/** A table of tiles in a GeoPackage, whose path is that of the file with the table's name behind it: `/maps/city.gpkg/streets`. */
export interface GeopackagePlace {
  readonly file: string
  /** null: the file as a whole */
  readonly table: string | null
}

/** null: the path is not that of a GeoPackage. */
export function geopackagePlace(path: string): GeopackagePlace | null {
  const lower = path.toLowerCase()
  if (lower.endsWith(EXTENSION)) return { file: path, table: null }
  const at = lower.lastIndexOf(`${EXTENSION}/`)
  if (at < 0) return null
  const end = at + EXTENSION.length
  return { file: path.slice(0, end), table: path.slice(end + 1) }
}

export function pathOfTable(file: string, table: string): string {
  return `${file}/${table}`
}
