import fs from 'node:fs'
import { isOnLocalDiskSync } from '@gateway/core/files/local-file-system.js'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { DatabasePages, FileStamp } from './database.js'
import { quotedName } from './plain-tables.js'
import { findTileTables, KEY_COLUMNS, type TileTables } from './schema.js'

/** The positions of a database's tiles, for code that reads its pages without SQLite. Valid as long as the file has this stamp. */
export interface DatabaseLayout {
  readonly pageBytes: number
  readonly stamp: FileStamp
  /** rows of these zooms count from the north; null: levels are zooms, and rows count from the south */
  readonly zooms: readonly StoredLevel[] | null
  /** steps to the tile's bytes, which the last one returns */
  readonly steps: readonly DatabaseStep[]
}

/** A zoom of the grid as a GeoPackage stores it, with the place of its first tile in the grid. */
export interface StoredLevel {
  readonly zoom: number
  readonly level: number
  readonly column: number
  readonly row: number
}

/** The tables with the tiles of a database, and its levels as in `DatabaseLayout`. */
export interface DescribedTables extends TileTables {
  readonly zooms: DatabaseLayout['zooms']
}

/** A look-up of one row, by an index or by its number. */
export interface DatabaseStep {
  /** root page of the index; 0: the only key is the row's number */
  readonly index: number
  /** one of `Key` for each column of the index, in its order */
  readonly keys: readonly number[]
  /** root page of the table; 0: the index holds whole rows (WITHOUT ROWID) */
  readonly table: number
  /** position of the wanted column in the record */
  readonly column: number
}

/** Values of an index look-up. `FOUND` is the result of the previous step. The numbers match those of libs/native-edge. */
const Key = { ZOOM: 0, COLUMN: 1, ROW: 2, FOUND: 3 } as const
const KEYS_OF_A_TILE = new Map<string, number>(
  [Key.ZOOM, Key.COLUMN, Key.ROW].map((key, i) => [KEY_COLUMNS[i] as string, key]),
)

/** The kernel dates writes by its timer, which ticks at least a hundred times a second. */
const TICK_MS = 20
const NS_PER_MS = 1_000_000n

/**
 * Describes the positions of tiles in an opened database. Returns null if it is on a remote file system, is being written, or has tables or indexes
 * that only SQLite may read. The queries run under SQLite's lock, and it finds no journal, so the file is as a writer completed it, and any later
 * write changes its stamp. May wait for a tick of the kernel's timer: until then a write would have the same time.
 */
export function describePages(
  database: DatabaseSyncInstance,
  pages: DatabasePages,
  tables: DescribedTables = { ...findTileTables(database), zooms: null },
): DatabaseLayout | null {
  const { realPath, pageBytes, reservedBytes, stamp } = pages
  try {
    if (reservedBytes !== 0 || !isOnLocalDiskSync(realPath) || !waitForTick(stamp)) return null
    const steps = findSteps(database, tables)
    if (steps === null || fs.existsSync(`${realPath}-journal`)) return null
    // SQLite opened the file by its path. If another file was there meanwhile, the time of the inode's change reveals it.
    const now = fs.statSync(realPath, { bigint: true })
    return isSame(now, stamp) ? { pageBytes, stamp: stampOf(stamp), zooms: tables.zooms, steps } : null
  } catch {
    return null
  }
}

/** Returns false if the time is in the future, and so meaningless. */
function waitForTick({ ctimeNs }: FileStamp): boolean {
  // biome-ignore lint/plugin: calendar, of files
  const ageMs = Date.now() - Number(ctimeNs / NS_PER_MS)
  if (ageMs < -TICK_MS) return false
  if (ageMs < TICK_MS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TICK_MS - ageMs)
  return true
}

function isSame(one: FileStamp, other: FileStamp): boolean {
  const { ino, size, mtimeNs, ctimeNs } = other
  return one.ino === ino && one.size === size && one.mtimeNs === mtimeNs && one.ctimeNs === ctimeNs
}

function stampOf({ ino, size, mtimeNs, ctimeNs }: FileStamp): FileStamp {
  return { ino, size, mtimeNs, ctimeNs }
}

function findSteps(database: DatabaseSyncInstance, { keys, data }: TileTables): DatabaseStep[] | null {
  const [encoding] = rows<{ encoding: unknown }>(database, 'PRAGMA main.encoding')
  if (encoding?.encoding !== 'UTF-8') return null
  const tableOfKeys = describeTable(database, keys)
  if (data === null) {
    const step = stepTo(database, tableOfKeys, KEYS_OF_A_TILE, 'tile_data')
    return step && [step]
  }
  const [link = ''] = data.by.filter((column) => column !== 'zoom_level')
  const tableOfData = describeTable(database, data.table)
  // Between columns of two kinds, SQLite would convert the compared values.
  if (tableOfKeys.kinds.get(link) !== tableOfData.kinds.get(link)) return null
  const keysOfData = new Map<string, number>(
    data.by.map((column) => [column, column === 'zoom_level' ? Key.ZOOM : Key.FOUND]),
  )
  const first = stepTo(database, tableOfKeys, KEYS_OF_A_TILE, link)
  const second = stepTo(database, tableOfData, keysOfData, 'tile_data')
  return first && second && [first, second]
}

interface Table {
  readonly root: number
  readonly isWithoutRowid: boolean
  /** in lower case, in the order of a row's record */
  readonly columns: readonly string[]
  /** storage of numbers and texts in a column (Datatypes, 3.1); others are absent */
  readonly kinds: ReadonlyMap<string, 'number' | 'text'>
  /** column that is another name of the row's number */
  readonly numberOfRow: string | null
  readonly indexes: readonly { name: string; unique: number; origin: string; partial: number }[]
}

function describeTable(database: DatabaseSyncInstance, table: string): Table {
  const found = rows<{ name: string; type: string; pk: number; hidden: number }>(
    database,
    `PRAGMA main.table_xinfo(${quotedName(table)})`,
  )
  // A computed column may have no place in the record.
  const isPlain = found.every(({ hidden }) => hidden === 0)
  const indexes = rows<Table['indexes'][number]>(database, `PRAGMA main.index_list(${quotedName(table)})`)
  const [list] = rows<{ wr: number }>(database, `PRAGMA main.table_list(${quotedName(table)})`)
  const isWithoutRowid = list?.wr !== 0
  const inKey = found.filter(({ pk }) => pk !== 0)
  const [only] = inKey
  const isNumber = inKey.length === 1 && /^integer$/i.test(only?.type ?? '')
  const hasOwnIndex = isWithoutRowid || indexes.some(({ origin }) => origin === 'pk')
  return {
    root: isPlain ? rootOf(database, 'table', table) : 0,
    isWithoutRowid,
    columns: found.map(({ name }) => name.toLowerCase()),
    kinds: new Map(found.flatMap(({ name, type }) => kindsOf(name, type))),
    numberOfRow: isNumber && !hasOwnIndex ? (only as { name: string }).name.toLowerCase() : null,
    indexes,
  }
}

function kindsOf(name: string, type: string): [string, 'number' | 'text'][] {
  if (/int/i.test(type)) return [[name.toLowerCase(), 'number']]
  return /char|clob|text/i.test(type) ? [[name.toLowerCase(), 'text']] : []
}

/** Returns null if no unique index of plain columns finds the row. */
function stepTo(
  database: DatabaseSyncInstance,
  table: Table,
  by: ReadonlyMap<string, number>,
  wanted: string,
): DatabaseStep | null {
  const { root, numberOfRow } = table
  const names = [...by.keys()]
  const areNumbers = names.every((name) => by.get(name) === Key.FOUND || table.kinds.get(name) === 'number')
  const areKnown = names.every((name) => table.kinds.has(name))
  // The record contains nothing in place of the row's number.
  if (root === 0 || !areNumbers || !areKnown || wanted === numberOfRow) return null
  const column = table.columns.indexOf(wanted)
  if (names.length === 1 && names[0] === numberOfRow) {
    return { index: 0, keys: [...by.values()], table: root, column }
  }
  for (const { name, unique, origin, partial } of table.indexes) {
    if (unique !== 1 || partial !== 0 || (table.isWithoutRowid && origin !== 'pk')) continue
    const stored = indexColumns(database, name)
    const keys = stored.filter(({ key }) => key === 1)
    const isRight =
      keys.length === by.size && keys.every((one) => by.has(one.name) && one.desc === 0 && one.coll === 'BINARY')
    if (!isRight) continue
    const ofKeys = keys.map((one) => by.get(one.name) as number)
    if (!table.isWithoutRowid) return { index: rootOf(database, 'index', name), keys: ofKeys, table: root, column }
    return { index: root, keys: ofKeys, table: 0, column: stored.findIndex((one) => one.name === wanted) }
  }
  return null
}

/** Returns all columns of an index's entries, in their order. */
function indexColumns(database: DatabaseSyncInstance, index: string) {
  const sql = 'SELECT lower(name) AS name, "desc", coll, "key" FROM pragma_index_xinfo(?, \'main\') ORDER BY seqno'
  return rows<{ name: string; desc: number; coll: string; key: number }>(database, sql, index)
}

function rootOf(database: DatabaseSyncInstance, type: 'table' | 'index', name: string): number {
  const sql = 'SELECT rootpage FROM main.sqlite_schema WHERE type = ? AND name = ? COLLATE NOCASE'
  return rows<{ rootpage: number }>(database, sql, type, name)[0]?.rootpage ?? 0
}

function rows<Row>(database: DatabaseSyncInstance, sql: string, ...parameters: string[]): Row[] {
  return database.prepare(sql).all(...parameters) as Row[]
}

/** The form for JSON. */
export type LayoutText = Omit<DatabaseLayout, 'stamp'> & { readonly stamp: Readonly<Record<keyof FileStamp, string>> }

export function toText({ stamp, ...layout }: DatabaseLayout): LayoutText {
  const { ino, size, mtimeNs, ctimeNs } = stamp
  return { ...layout, stamp: { ino: `${ino}`, size: `${size}`, mtimeNs: `${mtimeNs}`, ctimeNs: `${ctimeNs}` } }
}

export function fromText({ stamp, ...layout }: LayoutText): DatabaseLayout {
  const { ino, size, mtimeNs, ctimeNs } = stamp
  return {
    ...layout,
    stamp: { ino: BigInt(ino), size: BigInt(size), mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) },
  }
}
