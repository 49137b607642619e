import { DatabaseSync } from '@photostructure/sqlite'

const EMPTY_GEOPACKAGE = `
  CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
  CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
    srs_id INTEGER);
  CREATE TABLE gpkg_geometry_columns (table_name TEXT PRIMARY KEY, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER);
  INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'undefined');`

/** SQL for a table with this many features, and for its registration. */
export function layer(
  name: string,
  { type = 'POINT', srs = 4326, box = '5, 45, 11, 48', fields = 'name TEXT', rows = 2 } = {},
): string {
  return `
    CREATE TABLE ${name} (fid INTEGER PRIMARY KEY, geom ${type}, ${fields});
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO ${name} (fid) SELECT i FROM n;
    INSERT INTO gpkg_contents VALUES ('${name}', 'features', '${name}', ${box}, ${srs});
    INSERT INTO gpkg_geometry_columns VALUES ('${name}', 'geom', '${type}', ${srs});`
}

/** Makes a GeoPackage with the tables required by the standard, and further content by `sql`. */
export function makeGeopackage(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec(EMPTY_GEOPACKAGE + sql)
  } finally {
    database.close()
  }
}

/** Makes a GeoPackage of 10 KB whose only layer is a view: a count of its rows never ends. */
export function makeEndlessGeopackage(file: string): void {
  const joins = Array.from({ length: 7 }, (_, i) => `n n${i + 1}`).join(', ')
  makeGeopackage(
    file,
    `CREATE TABLE n (i INTEGER);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000) INSERT INTO n SELECT i FROM c;
    CREATE VIEW endless AS SELECT n1.i AS fid, NULL AS geom FROM ${joins};
    INSERT INTO gpkg_contents VALUES ('endless', 'features', 'endless', 0, 0, 1, 1, 4326);
    INSERT INTO gpkg_geometry_columns VALUES ('endless', 'geom', 'POINT', 4326);`,
  )
}
