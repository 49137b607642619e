const EXTENSION = '.gpkg'

/** A table of tiles in a GeoPackage, whose path is the path of the file followed by the table's name: `/maps/city.gpkg/streets`. */
export interface GeopackagePlace {
  readonly file: string
  /** null: the whole file */
  readonly table: string | null
}

/** Returns null if the path is not that of a GeoPackage. */
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
