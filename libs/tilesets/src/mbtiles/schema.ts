import { sentence } from '@gateway/contracts/messages.js'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { BrokenArchiveError } from '../broken-archive.js'
import { plainColumns, readObjects, type SchemaObjects } from './plain-tables.js'

/** Maximum number of tables and views in an archive; real ones have a dozen. */
const MAX_OBJECTS = 1_000

/** The plain tables that contain the tiles of an archive. */
export interface TileTables {
  /** table with a row for each tile, by zoom_level, tile_column, tile_row */
  readonly keys: string
  /** table of the bytes and the join columns, if the bytes are not next to the key; otherwise null */
  readonly data: { readonly table: string; readonly by: readonly string[] } | null
}

/** Columns of a tile's address in every table that has one. */
export const KEY_COLUMNS = ['zoom_level', 'tile_column', 'tile_row']

/**
 * Tables behind a view `tiles`: map and images (node-mbtiles, MapTiler, MapProxy; tippecanoe also joins by the zoom),
 * tiles_shallow and tiles_data (Planetiler), tiles_with_hash (the mbtiles tool of Martin).
 */
const BEHIND_VIEWS: readonly TileTables[] = [
  { keys: 'map', data: { table: 'images', by: ['tile_id', 'zoom_level'] } },
  { keys: 'map', data: { table: 'images', by: ['tile_id'] } },
  { keys: 'tiles_shallow', data: { table: 'tiles_data', by: ['tile_data_id'] } },
  { keys: 'tiles_with_hash', data: null },
]

/** All words of such a view: no condition, no function, no number, no other table. */
const WORDS_OF_VIEWS = new Set(
  `create view if not exists tiles as select from left outer inner join on using and zoom_level tile_column tile_row tile_data tile_id tile_data_id map
  images tiles_shallow tiles_data tiles_with_hash`.split(/\s+/),
)
const SIGNS_OF_VIEWS = new Set([',', '.', '=', '(', ')', ';', '"', '`', '[', ']'])

/**
 * Finds the tables that contain the tiles. A view comes with the file and may do anything, so none is ever queried. If `tiles` is a view, it must
 * have a known form, and the tables behind it are queried. Throws `BrokenArchiveError` for every other schema.
 */
export function findTileTables(database: DatabaseSyncInstance): TileTables {
  const objects = readObjects(database, MAX_OBJECTS)
  const tiles = objects.get('tiles')
  if (tiles === undefined) throw new BrokenArchiveError(sentence('said.no_tile_table'))
  if (tiles.type !== 'view') {
    requireColumns(database, objects, 'tiles', [...KEY_COLUMNS, 'tile_data'])
    return { keys: 'tiles', data: null }
  }
  const view = withoutAliases(tiles.sql.toLowerCase())
  const known = isKnownView(view)
    ? BEHIND_VIEWS.find((tables) => isMadeOf(view, tables) && hasTables(database, objects, tables))
    : undefined
  if (known === undefined) throw new BrokenArchiveError('the tiles come from a view of an unknown form')
  return known
}

/** True if there is a plain table of metadata. */
export function hasMetadataTable(database: DatabaseSyncInstance): boolean {
  return lacking(database, readObjects(database, MAX_OBJECTS), 'metadata', ['name', 'value']) === null
}

function hasTables(database: DatabaseSyncInstance, objects: SchemaObjects, { keys, data }: TileTables): boolean {
  const ofKeys = [...KEY_COLUMNS, ...(data?.by ?? ['tile_data'])]
  if (lacking(database, objects, keys, ofKeys) !== null) return false
  return data === null || lacking(database, objects, data.table, [...data.by, 'tile_data']) === null
}

function requireColumns(
  database: DatabaseSyncInstance,
  objects: SchemaObjects,
  table: string,
  columns: readonly string[],
): void {
  const why = lacking(database, objects, table, columns)
  if (why !== null) throw new BrokenArchiveError(`the table ${table} ${why}`)
}

/** Returns the reason why it is not a plain table with these columns, or null. */
function lacking(
  database: DatabaseSyncInstance,
  objects: SchemaObjects,
  table: string,
  columns: readonly string[],
): string | null {
  const stored = plainColumns(database, objects, table)
  if (stored === null) return 'is not a plain table'
  for (const column of columns) {
    const found = stored.get(column)
    if (found === undefined) return `has no column ${column}`
    if (found.isComputed) return `computes its column ${column}`
  }
  return null
}

/** A table of a known view with another name for it: `map m`, `"images" AS i`. */
const ALIASES = /\b(map|images|tiles_shallow|tiles_data|tiles_with_hash)["`\]]?\s+(?:as\s+)?["`[]?(\w+)/g

/** Returns the text of a view with the names of its tables instead of their aliases. */
function withoutAliases(view: string): string {
  const tables = new Map<string, string>()
  const undeclared = view.replace(ALIASES, (declared, table: string, alias: string) => {
    if (WORDS_OF_VIEWS.has(alias)) return declared
    tables.set(alias, table)
    return table
  })
  return undeclared.replace(/\w+/g, (word) => tables.get(word) ?? word)
}

/** @param sql in lower case, without aliases, as for `isMadeOf` */
function isKnownView(sql: string): boolean {
  const words = sql.match(/\w+|\S/g) ?? []
  return words.every((word) => WORDS_OF_VIEWS.has(word) || SIGNS_OF_VIEWS.has(word))
}

function isMadeOf(sql: string, { keys, data }: TileTables): boolean {
  const text = sql.replace(/["`[\]]/g, '')
  const words = new Set(text.match(/\w+/g))
  if (!words.has(keys) || (data !== null && !words.has(data.table))) return false
  return data?.by.includes('zoom_level') !== true || text.includes(`${data.table}.zoom_level`)
}
