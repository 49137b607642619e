import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import { writeUnderTemporaryName } from '@gateway/core/files/write-atomically.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { flipRow } from '../address.js'
import type { TileToWrite } from '../tile-to-write.js'

export interface MbtilesDescription {
  readonly name: string
  readonly format: TileFormat
  readonly bounds: Bounds
  /** further rows of the metadata table: attribution, description, json ... */
  readonly metadata: Readonly<Record<string, string>>
}

/** "MPBX", by which `file` and GDAL know the format without its extension (MBTiles 1.3). */
const APPLICATION_ID = 0x4d504258

const SCHEMA = `PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA journal_mode = OFF;
  CREATE TABLE metadata (name text, value text);
  CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
  CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
  BEGIN`

/**
 * Writes an MBTiles 1.3 archive from XYZ tiles, each address once. The file gets its name when it is complete; an error leaves no file behind.
 */
export async function writeMbtiles(
  file: string,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
  description: MbtilesDescription,
): Promise<void> {
  await writeDatabase(file, SCHEMA, async (database) => {
    const zooms = await insertTiles(database, tiles)
    insertMetadata(database, description, zooms)
  })
}

/**
 * Writes a database, which gets its name when it is complete; an error leaves no file behind.
 * @param schema begins a transaction with its last statement
 */
export async function writeDatabase(
  file: string,
  schema: string,
  fill: (database: DatabaseSyncInstance) => Promise<void>,
): Promise<void> {
  await writeUnderTemporaryName(file, async (temporary) => {
    const database = new DatabaseSync(temporary)
    try {
      database.exec(schema)
      await fill(database)
      database.exec('COMMIT')
    } finally {
      database.close()
    }
  })
}

async function insertTiles(
  database: DatabaseSyncInstance,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
): Promise<{ min: number; max: number }> {
  const insert = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
  let min = Number.POSITIVE_INFINITY
  let max = -1
  for await (const { z, x, y, data } of tiles) {
    insert.run(z, x, flipRow(z, y), data)
    min = Math.min(min, z)
    max = Math.max(max, z)
  }
  if (max < 0) throw new Error('an archive needs at least one tile')
  return { min, max }
}

function insertMetadata(
  database: DatabaseSyncInstance,
  { name, format, bounds, metadata }: MbtilesDescription,
  zooms: { min: number; max: number },
): void {
  const insert = database.prepare('INSERT INTO metadata VALUES (?, ?)')
  const fields = {
    name,
    format,
    bounds: bounds.join(),
    minzoom: String(zooms.min),
    maxzoom: String(zooms.max),
    ...metadata,
  }
  for (const [key, value] of Object.entries(fields)) insert.run(key, value)
}
