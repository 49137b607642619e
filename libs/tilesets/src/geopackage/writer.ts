import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { writeDatabase } from '../mbtiles/writer.js'
import { inUnitsOf, TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import type { ArchiveDescription, TileToWrite } from '../tile-to-write.js'

/** "GPKG"; the version is 1.3 (OGC 12-128r18, section 1.1.1.1.1). */
const APPLICATION_ID = 0x47504b47
const USER_VERSION = 10300
const TABLE = 'tiles'
const [WGS84, WEB_MERCATOR] = [4326, 3857]

const SCHEMA = `PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${USER_VERSION};
  PRAGMA journal_mode = OFF;
  CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
    organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
  CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
    last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
    srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
  CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY REFERENCES gpkg_contents(table_name),
    srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys(srs_id), min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL, max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL);
  CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL REFERENCES gpkg_contents(table_name), zoom_level INTEGER NOT NULL, matrix_width INTEGER NOT NULL,
    matrix_height INTEGER NOT NULL, tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL, pixel_y_size DOUBLE NOT NULL,
    PRIMARY KEY (table_name, zoom_level));
  CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
    UNIQUE (table_name, column_name, extension_name));
  CREATE TABLE ${TABLE} (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL,
    tile_data BLOB NOT NULL, UNIQUE (zoom_level, tile_column, tile_row));
  BEGIN`

/** The rows required by the standard, and the row for Web Mercator. */
const SYSTEMS: readonly (readonly [name: string, id: number, organization: string, definition: string])[] = [
  ['Undefined Cartesian SRS', -1, 'NONE', 'undefined'],
  ['Undefined geographic SRS', 0, 'NONE', 'undefined'],
  [
    'WGS 84 geodetic',
    WGS84,
    'EPSG',
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
      'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]',
  ],
  [
    'WGS 84 / Pseudo-Mercator',
    WEB_MERCATOR,
    'EPSG',
    'PROJCS["WGS 84 / Pseudo-Mercator",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],' +
      'UNIT["degree",0.0174532925199433]],PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],' +
      'PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],AXIS["X",EAST],AXIS["Y",NORTH],AUTHORITY["EPSG","3857"]]',
  ],
]

/**
 * Writes a GeoPackage (OGC 12-128r18) with one table of tiles in Web Mercator, whose matrices are those of the whole grid, from XYZ tiles, each
 * address once. The file gets its name when it is complete; an error leaves no file behind.
 */
export async function writeGeopackage(
  file: string,
  tiles: AsyncIterable<TileToWrite>,
  description: ArchiveDescription,
): Promise<void> {
  await writeDatabase(file, SCHEMA, async (database) => {
    describe(database, description)
    const insert = database.prepare(
      `INSERT INTO ${TABLE} (zoom_level, tile_column, tile_row, tile_data) VALUES (?, ?, ?, ?)`,
    )
    const zooms = new Set<number>()
    for await (const { z, x, y, data } of tiles) {
      insert.run(z, x, y, data)
      zooms.add(z)
    }
    if (zooms.size === 0) throw new Error('an archive needs at least one tile')
    describeZooms(database, zooms, description.tileSize)
  })
}

function describe(database: DatabaseSyncInstance, { format, bounds, metadata }: ArchiveDescription): void {
  const set = TILE_MATRIX_SETS.WebMercatorQuad
  const system = database.prepare('INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)')
  for (const [name, id, organization, definition] of SYSTEMS) system.run(name, id, organization, id, definition)
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  database
    .prepare(
      `INSERT INTO gpkg_contents (table_name, data_type, identifier, description, min_x, min_y, max_x, max_y, srs_id) VALUES ('${TABLE}', 'tiles', ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(text(metadata.name) || TABLE, text(metadata.description), ...inUnitsOf(set, bounds), WEB_MERCATOR)
  database
    .prepare(`INSERT INTO gpkg_tile_matrix_set VALUES ('${TABLE}', ?, ?, ?, ?, ?)`)
    .run(WEB_MERCATOR, ...set.extent)
  if (format !== 'webp') return
  database
    .prepare(`INSERT INTO gpkg_extensions VALUES ('${TABLE}', 'tile_data', 'gpkg_webp', ?, 'read-write')`)
    .run('http://www.geopackage.org/spec130/#extension_tiles_webp')
}

/** Inserts the matrix of each zoom with tiles, numbered as in the whole grid. */
function describeZooms(database: DatabaseSyncInstance, zooms: ReadonlySet<number>, tileSize: number): void {
  const { cellSize } = TILE_MATRIX_SETS.WebMercatorQuad
  const insert = database.prepare(`INSERT INTO gpkg_tile_matrix VALUES ('${TABLE}', ?, ?, ?, ?, ?, ?, ?)`)
  for (const zoom of [...zooms].sort((a, b) => a - b)) {
    const size = (cellSize * 256) / tileSize / 2 ** zoom
    insert.run(zoom, 2 ** zoom, 2 ** zoom, tileSize, tileSize, size, size)
  }
}
