import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { folded, unaccentedOf } from '../query/cql2/folding.js'
import { type IndexField, quoted } from './index-description.js'

export const SQL_TYPES: Readonly<Record<IndexField['type'], string>> = {
  string: 'TEXT',
  number: 'REAL',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'DATETIME',
  json: 'TEXT',
}

/** Returns a value as the SQLite binding stores it: it takes a positive number this small for 0, whereas a column of REAL reads its text exactly. */
export function bindable<Value>(value: Value): Value | string {
  return typeof value === 'number' && value > 0 && value < Number.EPSILON ? String(value) : value
}

/** The tables of a GeoPackage 1.3 (OGC 12-128r18) that every one has, and the systems that the standard prescribes. */
export function createGeopackage(db: DatabaseSyncInstance): void {
  db.exec(`
    PRAGMA application_id = 1196444487;
    PRAGMA user_version = 10300;
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
      organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
    INSERT INTO gpkg_spatial_ref_sys VALUES
      ('Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', NULL),
      ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', NULL),
      ('WGS 84 geodetic', 4326, 'EPSG', 4326, '${WGS84_WKT}', NULL);
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
      last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
      srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
    CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
      srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
      CONSTRAINT uk_gc_table_name UNIQUE (table_name), CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
      CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
    CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
      CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))`)
}

export const WGS84_WKT =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
  'PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],' +
  'AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]'

/** Creates the tables of an index. Geometries come last: a filter by attributes does not read past large ones. */
export function createTables(db: DatabaseSyncInstance, fields: readonly IndexField[]): void {
  const columns = fields.map(({ column, type }) => `, ${quoted(column)} ${SQL_TYPES[type]}`).join('')
  createGeopackage(db)
  db.exec(`
    INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES ('features', 'features', 'features', 4326);
    INSERT INTO gpkg_geometry_columns VALUES ('features', 'geom', 'GEOMETRY', 4326, 2, 2);
    INSERT INTO gpkg_extensions VALUES ('features', 'geom', 'gpkg_rtree_index', 'http://www.geopackage.org/spec120/#extension_rtree', 'write-only');
    CREATE TABLE features (fid INTEGER PRIMARY KEY, layer TEXT, feature_id TEXT${columns}, geom GEOMETRY);
    CREATE TABLE feature_texts (fid INTEGER PRIMARY KEY, text BLOB);
    CREATE VIRTUAL TABLE rtree_features_geom USING rtree(id, minx, maxx, miny, maxy)`)
}

/** Adds indexes for rare values. */
export function finishTables(db: DatabaseSyncInstance): void {
  db.exec(`
    CREATE INDEX IF NOT EXISTS features_feature_id ON features (feature_id) WHERE feature_id IS NOT NULL;
    CREATE INDEX features_without_geometry ON features (fid) WHERE geom IS NULL`)
}

/**
 * Writes the table `folded_texts`: the texts of fields as CASEI compares them, by fid. SQLite searches a million of them in the time in which
 * JavaScript folds some ten thousand. Texts that SQLite's own lower() folds need no copy.
 */
export function writeFoldedTexts(db: DatabaseSyncInstance, fields: readonly IndexField[]): void {
  if (fields.length === 0) return
  db.function('gw_folded', { deterministic: true }, (value: unknown) =>
    typeof value === 'string' ? folded(value) : null,
  )
  const names = fields.map(({ column }) => quoted(column))
  const isPlain = (name: string) => `CASE WHEN ${name} GLOB '*[^ -~]*' THEN gw_folded(${name}) ELSE lower(${name}) END`
  db.exec(`
    CREATE TABLE folded_texts (fid INTEGER PRIMARY KEY, ${names.map((name) => `${name} TEXT`).join(', ')});
    INSERT INTO folded_texts SELECT fid, ${names.map(isPlain).join(', ')} FROM features
      WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' OR ')} ORDER BY fid`)
  writeUnaccentedTexts(db, names)
}

/** Writes the table `unaccented_texts`: the folded texts without their accents, for those that have any. */
function writeUnaccentedTexts(db: DatabaseSyncInstance, names: readonly string[]): void {
  db.function('gw_unaccented', { deterministic: true }, (foldedText: unknown, original: unknown) =>
    typeof foldedText === 'string' && typeof original === 'string' ? unaccentedOf(foldedText, original) : null,
  )
  const unaccented = names.map(
    (name) => `CASE WHEN f.${name} GLOB '*[^ -~]*' THEN gw_unaccented(f.${name}, o.${name}) END`,
  )
  // Without a limit, SQLite would merge the queries and call the function twice for each text.
  db.exec(`
    CREATE TABLE unaccented_texts (fid INTEGER PRIMARY KEY, ${names.map((name) => `${name} TEXT`).join(', ')});
    INSERT INTO unaccented_texts SELECT * FROM (
      SELECT f.fid, ${unaccented.map((text, i) => `${text} AS ${names[i]}`).join(', ')} FROM folded_texts f JOIN features o USING (fid) ORDER BY f.fid LIMIT -1
    ) WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' OR ')}`)
}
