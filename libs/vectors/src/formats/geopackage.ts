import type { Bounds } from '@gateway/contracts/basemap.js'
import type { VectorFacts, VectorField, VectorFieldType } from '@gateway/contracts/vector.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { type OpenedDatabase, openDatabase } from '@gateway/tilesets/mbtiles/database.js'
import { type Column, plainColumns, quotedName, readObjects } from '@gateway/tilesets/mbtiles/plain-tables.js'
import { asArchiveError } from '@gateway/tilesets/mbtiles/sqlite-error.js'
import { wkbOffset } from '../index-file/geopackage-geometry.js'
import { boundsInWgs84, type Crs, crsOfEpsg, crsOfPrj } from './crs.js'
import {
  DamagedFile,
  type FieldType,
  hexOf,
  type OpenVector,
  type SourceFeature,
  type SourceLayer,
  type SourceValue,
} from './feature.js'
import { factsOfLayers, geometryTypeNamed, type Layer } from './layers.js'
import { MAX_COUNTED_BYTES, MAX_LAYERS, MAX_SIDECAR_BYTES } from './limits.js'

/** Maximum number of tables and views. Each layer has five: its own, and four of its index. */
const MAX_OBJECTS = 10_000

/** Warning of a scan for a GeoPackage without vectors, which belongs into a basemap source. */
export const HOLDS_TILES = 'it holds raster tiles'
const RASTERS: ReadonlySet<string> = new Set(['tiles', '2d-gridded-coverage'])

/** Read entries of the table of contents. Tiles and coverages belong to basemap sources. */
type DataType = 'features' | 'attributes'

/**
 * Reads the facts of a GeoPackage's layers from its tables (OGC 12-128r18). The number of features comes from GDAL's `gpkg_ogr_contents`, or is
 * counted up to `MAX_COUNTED_BYTES`. Reads only plain tables, so a layer that is a view has no fields. Must run in a process that can be killed.
 * Returns null if the file does not exist. Throws `BrokenArchiveError` for other content and for files with neither features nor attributes, and the
 * disk's errors.
 */
export function geopackageFacts(root: string, path: string): VectorFacts | null {
  const opened = openDatabase(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('this process may not read it')
    return null
  }
  try {
    return describe(opened)
  } catch (error) {
    throw asArchiveError(error)
  } finally {
    opened.database.close()
  }
}

function describe({ database, size }: OpenedDatabase): VectorFacts {
  const tables = new PlainTables(database)
  const { contents, listed, geometryOf } = contentsOf(tables)
  const counts = tables.rows('gpkg_ogr_contents', COUNTS) ?? []
  const isWhole = contents.length <= MAX_LAYERS
  const layers = isWhole
    ? listed.map((row) => {
        const name = String(row.table_name)
        const geometry = geometryOf(name)
        const columns = tables.columns(name)
        const known = named(counts, name)?.feature_count
        const count = isCount(known) ? known : columns !== null && size <= MAX_COUNTED_BYTES ? tables.count(name) : null
        return toLayer(row, { geometry, columns, count, crs: tables.crs(geometry?.srs_id ?? row.srs_id) })
      })
    : null
  return { ...factsOfLayers(layers), encoding: tables.encoding(), encoding_source: 'format' }
}

type Row = Readonly<Record<string, unknown>>

/** Finds the layers: the tables of features, or without any the tables of attributes. Styles of QGIS are attributes too, and no layer. */
function contentsOf(tables: PlainTables) {
  const contents = tables.rows('gpkg_contents', CONTENTS)
  if (contents === null) throw new BrokenArchiveError('it has no table gpkg_contents')
  const of = (type: DataType) => contents.filter(({ data_type }) => data_type === type)
  const features = of('features')
  const attributes = of('attributes').filter(({ table_name }) => !isSameName(table_name, 'layer_styles'))
  const all = features.length > 0 ? features : attributes
  // A program that drops a table may leave its entry.
  const listed = all.filter(({ table_name }) => tables.exists(String(table_name)))
  if (listed.length === 0) {
    const isRaster = contents.some(({ data_type }) => RASTERS.has(String(data_type)))
    throw new BrokenArchiveError(isRaster ? HOLDS_TILES : 'it holds neither features nor attributes')
  }
  const geometries = tables.rows('gpkg_geometry_columns', GEOMETRY_COLUMNS) ?? []
  return { contents, listed, geometryOf: (name: string) => named(geometries, name) }
}

function named(rows: readonly Row[], name: string): Row | undefined {
  return rows.find(({ table_name }) => isSameName(table_name, name))
}

/** Opens the layers of a GeoPackage, which may be views. Throws `DamagedFile` for other content. */
export function openGeopackage(root: string, path: string): OpenVector {
  const opened = openDatabase(root, path)
  if (!opened.ok) throw new DamagedFile(0, 'it cannot be opened')
  const { database } = opened
  try {
    const tables = new PlainTables(database)
    const { listed, geometryOf } = contentsOf(tables)
    const json = tables.jsonColumns()
    const layers = listed.map((row) => {
      const name = String(row.table_name)
      const geometry = geometryOf(name)
      const srs = geometry?.srs_id ?? row.srs_id
      return layerOf(database, name, geometry?.column_name, tables.crs(srs) ?? unknownCrs(srs), json)
    })
    return { layers, close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

/** -1 means coordinates that have no place on the earth (OGC 12-128r18, requirement 11), and 0 unknown degrees. */
function unknownCrs(id: unknown): Crs | null {
  return id === -1 ? { name: 'undefined Cartesian', definition: null, isLocal: true } : null
}

function layerOf(
  database: OpenedDatabase['database'],
  name: string,
  geometryName: unknown,
  crs: Crs | null,
  json: ReadonlySet<string>,
): SourceLayer {
  const table = quotedName(name)
  // Computed columns have no place in the list of plain ones.
  const columns = database.prepare(`PRAGMA table_xinfo(${table})`).all() as {
    name: string
    type: string
    pk: number
    hidden: number
  }[]
  const keys = columns.filter(({ pk }) => pk > 0)
  const key = keys.length === 1 && /^INTEGER$/i.test(keys[0]?.type ?? '') ? keys[0] : undefined
  const geometry = columns.find((column) => isSameName(geometryName, column.name))
  const own = columns.filter((column) => column !== key && column !== geometry && column.hidden !== 1)
  const fields = own.map(
    ({ name: field, type }) =>
      ({
        name: field,
        type: json.has(`${name.toLowerCase()}\n${field.toLowerCase()}`) ? 'json' : indexType(type),
      }) as const,
  )
  // A view has no key: GDAL and QGIS take its first column if that is called so.
  const id =
    key ??
    (columns[0] !== undefined && /^(?:fid|ogc_fid|objectid)$/i.test(columns[0].name) && keys.length === 0
      ? columns[0]
      : undefined)
  const shown = id === key ? own : own.filter((column) => column !== id)
  const shownFields = id === key ? fields : fields.filter((_, i) => own[i] !== id)
  const selected = [id, geometry, ...shown].map((column) => (column === undefined ? 'NULL' : quotedName(column.name)))
  return {
    name,
    fields: shownFields,
    crs,
    count: null,
    *features(): Generator<SourceFeature, void> {
      const order = key === undefined ? '' : ` ORDER BY ${quotedName(key.name)}`
      const statement = database.prepare(`SELECT ${selected.join(', ')} FROM main.${table}${order}`)
      statement.setReturnArrays(true)
      statement.setReadBigInts(true)
      let row = 0
      try {
        for (const [own, blob, ...values] of statement.iterate() as unknown as Iterable<(SourceValue | Uint8Array)[]>) {
          row++
          const wkb = blob instanceof Uint8Array ? wkbOf(blob) : null
          const number = typeof own === 'bigint' ? Number(own) : null
          yield {
            id: number !== null && Number.isSafeInteger(number) ? number : (own as bigint | null),
            row: (own as bigint | null) ?? row,
            geometry: wkb,
            isDamaged: wkb === null && blob !== null && blob !== undefined,
            values: values.map((value, i) => inForm(value, shownFields[i]?.type)),
          }
        }
      } catch (error) {
        throw asDamage(error, row)
      }
    },
  }
}

function asDamage(error: unknown, row: number): unknown {
  const known = asArchiveError(error)
  return known instanceof BrokenArchiveError ? new DamagedFile(row, known.message) : error
}

/** Returns the Well-Known Binary of a blob; null for other bytes. */
function wkbOf(blob: Uint8Array): Uint8Array | null {
  const start = wkbOffset(blob)
  return start < 0 ? null : blob.subarray(start)
}

/** SQLite keeps values of any type in a column. */
function inForm(value: SourceValue | Uint8Array, type: FieldType | undefined): SourceValue {
  if (value instanceof Uint8Array) return hexOf(value)
  if (typeof value === 'bigint') {
    const number = Number(value)
    const exact = Number.isSafeInteger(number) ? number : value
    return type === 'string' || type === 'date' || type === 'datetime' ? String(exact) : exact
  }
  return type === 'string' && typeof value === 'number' ? String(value) : value
}

/** Types of columns in the index, by their declaration (OGC 12-128r18, table 1). */
function indexType(declared: string): FieldType {
  const type = declared.toUpperCase().replace(/\(.*/, '').trim()
  if (type === 'DATETIME') return 'datetime'
  if (/^(?:TINYINT|SMALLINT|MEDIUMINT|INT|INTEGER)$/.test(type)) return 'integer'
  return fieldTypeOf(type) === 'number' ? 'number' : fieldTypeOf(type) === 'json' ? 'string' : fieldTypeOf(type)
}

const BOX = ['min_x', 'min_y', 'max_x', 'max_y']
const CONTENTS = ['table_name', 'data_type', ...BOX, 'srs_id']
const GEOMETRY_COLUMNS = ['table_name', 'column_name', 'geometry_type_name', 'srs_id']
const DATA_COLUMNS = ['table_name', 'column_name', 'mime_type']
const COUNTS = ['table_name', 'feature_count']
const SYSTEMS = ['srs_id', 'organization', 'organization_coordsys_id', 'definition']

interface OfLayer {
  readonly geometry: Row | undefined
  readonly columns: ReadonlyMap<string, Column> | null
  readonly count: number | null
  readonly crs: Crs | null
}

function toLayer(row: Row, { geometry, columns, count, crs }: OfLayer): Layer {
  const box = BOX.map((name) => row[name])
  const isBox = box.every((value) => typeof value === 'number')
  return {
    crs: crs?.name ?? null,
    bounds: crs === null || !isBox ? null : boundsInWgs84(crs, box as unknown as Bounds),
    geometryType: geometry === undefined ? null : geometryTypeNamed(String(geometry.geometry_type_name)),
    count,
    fields: columns && fieldsOf(columns, geometry?.column_name),
  }
}

/** Omits the geometry and the key, like all readers of GeoPackages. */
function fieldsOf(columns: ReadonlyMap<string, Column>, geometry: unknown): VectorField[] {
  return [...columns.values()]
    .filter(({ name, isKey }) => !isKey && !isSameName(geometry, name))
    .map(({ name, type }) => ({ name, type: fieldTypeOf(type) }))
}

/** Types by the first word of a column's declaration (OGC 12-128r18, table 1). */
const TYPES: Readonly<Record<string, VectorFieldType>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'number',
  SMALLINT: 'number',
  MEDIUMINT: 'number',
  INT: 'number',
  INTEGER: 'number',
  FLOAT: 'number',
  DOUBLE: 'number',
  REAL: 'number',
  TEXT: 'string',
  DATE: 'date',
  DATETIME: 'date',
  BLOB: 'string',
}

function fieldTypeOf(declared: string): VectorFieldType {
  return TYPES[/^\w*/.exec(declared.toUpperCase())?.[0] ?? ''] ?? 'json'
}

function isSameName(a: unknown, b: string): boolean {
  return typeof a === 'string' && a.toLowerCase() === b.toLowerCase()
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Queries plain tables only. */
class PlainTables {
  readonly #database: OpenedDatabase['database']
  readonly #objects: ReturnType<typeof readObjects>

  constructor(database: OpenedDatabase['database']) {
    this.#database = database
    this.#objects = readObjects(database, MAX_OBJECTS)
  }

  columns(table: string): ReadonlyMap<string, Column> | null {
    return plainColumns(this.#database, this.#objects, table)
  }

  /** Returns at most one row more than the maximum number of layers; null without a plain table that has these columns. */
  rows(table: string, columns: readonly string[]): Row[] | null {
    // Row by row, because the library's error does not distinguish a damaged page from a failing disk during an iteration.
    const row = this.#rowOf(table, columns, 'LIMIT 1 OFFSET ?')
    if (row === null) return null
    const rows: Row[] = []
    for (let i = 0; i <= MAX_LAYERS; i++) {
      const found = row(i)
      if (found === undefined) break
      rows.push(found)
    }
    return rows
  }

  /** True if there is a table of this name, or a view whose tables are there. */
  exists(name: string): boolean {
    const sql = "SELECT 1 FROM main.sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view') LIMIT 1"
    return this.#database.prepare(sql).get(name) !== undefined && this.#isReadable(name)
  }

  #isReadable(name: string): boolean {
    try {
      this.#database.prepare(`SELECT * FROM main.${quotedName(name)}`)
      return true
    } catch (error) {
      if (/^no such (?:table|column|function|module)/.test((error as Error).message)) return false
      throw error
    }
  }

  count(table: string): number {
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM main.${quotedName(table)}`).get()?.n)
  }

  /** 0 and -1 mean unknown systems. */
  crs(id: unknown): Crs | null {
    if (!Number.isSafeInteger(id) || (id as number) <= 0) return null
    const row = this.#rowOf('gpkg_spatial_ref_sys', SYSTEMS, 'WHERE srs_id = ? LIMIT 1')?.(id as number)
    if (row === undefined) return null
    const text = String(row.definition).slice(0, MAX_SIDECAR_BYTES)
    const told = crsOfPrj(text)
    const isEpsg = isSameName(row.organization, 'epsg') && isCount(row.organization_coordsys_id)
    return isEpsg ? crsOfEpsg(String(row.organization_coordsys_id), told && text) : told
  }

  /** Columns of JSON, as `table\ncolumn` in lower case. */
  jsonColumns(): ReadonlySet<string> {
    const rows = this.rows('gpkg_data_columns', DATA_COLUMNS) ?? []
    const json = rows.filter(({ mime_type }) => mime_type === 'application/json')
    return new Set(json.map(({ table_name, column_name }) => `${table_name}\n${column_name}`.toLowerCase()))
  }

  encoding(): string {
    return String(this.#database.prepare('PRAGMA encoding').get()?.encoding).toUpperCase()
  }

  /** Returns a look-up of one row by a number; null without a plain table that has these columns. */
  #rowOf(table: string, columns: readonly string[], by: string): ((value: number) => Row | undefined) | null {
    const known = this.columns(table)
    if (columns.some((column) => known?.get(column)?.isComputed !== false)) return null
    const statement = this.#database.prepare(`SELECT ${columns.join(', ')} FROM main.${table} ${by}`)
    return (value) => statement.get(value)
  }
}
