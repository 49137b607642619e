import { DatabaseSync } from '@photostructure/sqlite'
import { flipRow } from '../address.js'
import type { TileToWrite } from '../tile-to-write.js'

const KEYS = 'zoom_level integer, tile_column integer, tile_row integer'
const PRIMARY = 'PRIMARY KEY (zoom_level, tile_column, tile_row)'
const view = (keys: string, data: string, on: string) => `CREATE VIEW tiles AS SELECT ${keys}.zoom_level AS zoom_level,
  ${keys}.tile_column AS tile_column, ${keys}.tile_row AS tile_row, ${data}.tile_data AS tile_data FROM ${keys} JOIN ${data} ON ${on};`

/** Table layouts of common writers, with their page sizes. `into` inserts the tile's number, zoom, column, row and data. */
export const LAYOUTS = {
  /** GDAL */
  tiles: {
    pageBytes: 4096,
    schema: `CREATE TABLE tiles (id integer PRIMARY KEY, ${KEYS}, tile_data blob, UNIQUE (zoom_level, tile_column, tile_row));`,
    into: ['INSERT INTO tiles VALUES ($n * 3, $z, $x, $y, $data)'],
  },
  /** tippecanoe */
  joined: {
    pageBytes: 512,
    schema: `CREATE TABLE map (${KEYS}, tile_id text);
      CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
      CREATE TABLE images (zoom_level integer, tile_data blob, tile_id text);
      CREATE UNIQUE INDEX images_id ON images (zoom_level, tile_id);
      ${view('map', 'images', 'images.tile_id = map.tile_id AND images.zoom_level = map.zoom_level')}`,
    into: [
      `INSERT INTO map VALUES ($z, $x, $y, 'tile ' || $n)`,
      `INSERT INTO images (zoom_level, tile_data, tile_id) VALUES ($z, $data, 'tile ' || $n)`,
    ],
  },
  /** Planetiler */
  shallow: {
    pageBytes: 65_536,
    schema: `CREATE TABLE tiles_shallow (${KEYS}, tile_data_id integer, ${PRIMARY}) WITHOUT ROWID;
      CREATE TABLE tiles_data (tile_data_id integer PRIMARY KEY, tile_data blob);
      ${view('tiles_shallow', 'tiles_data', 'tiles_shallow.tile_data_id = tiles_data.tile_data_id')}`,
    into: ['INSERT INTO tiles_shallow VALUES ($z, $x, $y, $n)', 'INSERT INTO tiles_data VALUES ($n, $data)'],
  },
  /** the mbtiles tool of Martin */
  hashed: {
    pageBytes: 1024,
    schema: `CREATE TABLE tiles_with_hash (${KEYS}, tile_data blob, tile_hash text);
      CREATE UNIQUE INDEX with_hash ON tiles_with_hash (zoom_level, tile_column, tile_row);
      CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles_with_hash;`,
    into: [`INSERT INTO tiles_with_hash VALUES ($z, $x, $y, $data, 'hash of ' || $n)`],
  },
  whole: {
    pageBytes: 2048,
    schema: `CREATE TABLE tiles (tile_data blob, ${KEYS}, ${PRIMARY}) WITHOUT ROWID;`,
    into: ['INSERT INTO tiles VALUES ($data, $z, $x, $y)'],
  },
} as const

/** Writes an archive, in the order of the tiles, with XYZ addresses. The file must not exist. */
export function writeLayout(file: string, layout: keyof typeof LAYOUTS, tiles: Iterable<TileToWrite>): void {
  const { pageBytes, schema, into } = LAYOUTS[layout]
  const database = new DatabaseSync(file)
  try {
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = OFF; BEGIN; ${schema}`)
    const statements = into.map((sql) => database.prepare(sql))
    for (const statement of statements) statement.setAllowUnknownNamedParameters(true)
    let n = 0
    for (const { z, x, y, data } of tiles) {
      n++
      for (const statement of statements) statement.run({ n, z, x, y: flipRow(z, y), data })
    }
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

/** Changes a tile of the layout `tiles` in place, as an archive's owner might. */
export function overwriteTile(file: string, { z, x, y, data }: TileToWrite): void {
  const database = new DatabaseSync(file)
  try {
    database
      .prepare('UPDATE tiles SET tile_data = ? WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?')
      .run(data, z, x, flipRow(z, y))
  } finally {
    database.close()
  }
}
