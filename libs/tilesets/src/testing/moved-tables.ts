import { DatabaseSync } from '@photostructure/sqlite'

const HALF = 20037508.342789244

/**
 * Makes the matrices of a GeoPackage from `writeGeopackage` those of the south-eastern quarter of the world, with `shift` more for each level, and removes
 * the levels below `least`.
 */
export function moveTables(file: string, { least, shift }: { readonly least: number; readonly shift: number }): void {
  const database = new DatabaseSync(file)
  database.exec(`DELETE FROM gpkg_tile_matrix WHERE zoom_level < ${least}; DELETE FROM tiles WHERE zoom_level < ${least};
    UPDATE gpkg_tile_matrix_set SET min_x = 0, max_x = ${HALF}, min_y = -${HALF}, max_y = 0;
    UPDATE gpkg_tile_matrix SET matrix_width = matrix_width / 2, matrix_height = matrix_height / 2, zoom_level = zoom_level + ${shift};
    UPDATE tiles SET zoom_level = zoom_level + ${shift};`)
  database.close()
}
