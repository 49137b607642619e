import type { Bounds } from '@gateway/contracts/basemap.js'
import type { VectorFacts, VectorField, VectorFieldType } from '@gateway/contracts/vector.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { type OpenedDatabase, openDatabase } from '@gateway/tilesets/mbtiles/database.js'
import { type Column, plainColumns, quotedName, readObjects } from '@gateway/tilesets/mbtiles/plain-tables.js'
import { asArchiveError } from '@gateway/tilesets/mbtiles/sqlite-error.js'
import { boundsInWgs84, type Crs, crsOfEpsg, crsOfPrj } from './crs.js'
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
  const contents = tables.rows('gpkg_contents', CONTENTS)
  if (contents === null) throw new BrokenArchiveError('it has no table gpkg_contents')
  const of = (type: DataType) => contents.filter(({ data_type }) => data_type === type)
  const [features, attributes] = [of('features'), of('attributes')]
  const listed = features.length > 0 ? features : attributes
  if (listed.length === 0) {
    const isRaster = contents.some(({ data_type }) => RASTERS.has(String(data_type)))
    throw new BrokenArchiveError(isRaster ? HOLDS_TILES : 'it holds neither features nor attributes')
  }
  const geometries = tables.rows('gpkg_geometry_columns', GEOMETRY_COLUMNS) ?? []
  const counts = tables.rows('gpkg_ogr_contents', COUNTS) ?? []
  const isWhole = contents.length <= MAX_LAYERS
  const layers = isWhole
    ? listed.map((row) => {
        const name = String(row.table_name)
        const named = (rows: readonly Row[]) => rows.find(({ table_name }) => isSameName(table_name, name))
        const geometry = named(geometries)
        const columns = tables.columns(name)
        const known = named(counts)?.feature_count
        const count = isCount(known) ? known : columns !== null && size <= MAX_COUNTED_BYTES ? tables.count(name) : null
        return toLayer(row, { geometry, columns, count, crs: tables.crs(geometry?.srs_id ?? row.srs_id) })
      })
    : null
  return { ...factsOfLayers(layers), encoding: tables.encoding(), encoding_source: 'format' }
}

type Row = Readonly<Record<string, unknown>>

const BOX = ['min_x', 'min_y', 'max_x', 'max_y']
const CONTENTS = ['table_name', 'data_type', ...BOX, 'srs_id']
const GEOMETRY_COLUMNS = ['table_name', 'column_name', 'geometry_type_name', 'srs_id']
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
