import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { NUMBERED_GEOMETRY_TYPES, type VectorKind } from '@gateway/contracts/vector.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  CONVERTED_GEOMETRY,
  CONVERTED_ID,
  convert,
  MAX_FIELDS,
  TOO_MANY_FIELDS,
  VectorFault,
  type VectorSource,
} from './convert.js'
import { writeFeatureTexts } from './feature-texts.js'
import { ownIdsOf } from './first-feature.js'
import { reverseRing, ringArea, visitGeometry } from './geopackage-geometry.js'
import {
  DESCRIPTION_FILE,
  INDEX_FILE,
  type IndexDescription,
  type IndexField,
  type IndexLayer,
  quoted,
} from './index-description.js'
import { storageDefinitionOf } from './storage-definition.js'

export interface IndexTask {
  readonly source: VectorSource
  readonly kind: VectorKind
  /** of the content that is indexed, as the scan has it; null: the file is a copy that nobody replaces */
  readonly fingerprint: string | null
  /** of a shapefile's texts; null: what its files say */
  readonly encoding: string | null
  /** name of the only layer of a file */
  readonly code: string
  /** the coordinate system of the source, as named in the catalog; null: unknown */
  readonly crs: string | null
  /** a dedicated folder, in which index.gpkg and index.json are written */
  readonly output: string
  readonly limits: {
    /** memory of GDAL's tools */
    readonly memoryMb: number
  }
}

/** Maximum number of layers of one source. */
const MAX_LAYERS = 500

/** Features that are copied at a time. */
const CHUNK = 20_000

/** Writes the index of a vector: all its features in one GeoPackage table. Throws VectorFault for faults of the vector. */
export async function buildIndex(task: IndexTask): Promise<IndexDescription> {
  const scratch = join(task.output, '.source')
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { recursive: true })
  try {
    const asked = storageDefinitionOf(task.crs)
    const isGeoJson = task.kind === 'geojson' || task.kind === 'geojson_sequence'
    // First: the conversion finds out whether the file is another one by then.
    const ids = isGeoJson ? await ownIdsOf(task.source) : 'none'
    const converted = await convert({
      ...task,
      scratch,
      memoryMb: task.limits.memoryMb,
    })
    const file = join(task.output, INDEX_FILE)
    await rm(file, { force: true })
    const ownId =
      task.kind === 'geopackage' || ids === 'number' ? CONVERTED_ID : ids === 'property' ? 'id' : OWN_ID[task.kind]
    const definition = await asked
    const description = {
      ...merge(converted, file, task, ownId ?? null),
      storage_definition: definition,
    }
    await writeFile(join(task.output, DESCRIPTION_FILE), JSON.stringify(description))
    return description
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Attributes that identify a feature, by kind. */
const OWN_ID: Readonly<Partial<Record<VectorKind, string>>> = { gml: 'gml_id' }

interface SourceLayer {
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly type: IndexField['type'] }[]
}

function merge(converted: string, file: string, task: IndexTask, ownId: string | null): IndexDescription {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192')
    db.prepare('ATTACH ? AS converted').run(converted)
    const sources = layersOf(db, ownId)
    if (sources.length === 0) throw new VectorFault(coded('vector_no_layer'))
    if (sources.length > MAX_LAYERS) throw new VectorFault(coded('vector_many_layers', { limit: MAX_LAYERS }))
    const fields = fieldsOf(sources, task.code)
    if (fields.length > MAX_FIELDS) throw new VectorFault(TOO_MANY_FIELDS)
    db.exec('BEGIN')
    createTables(db, fields)
    const bounds = new Bounds()
    const layers: IndexLayer[] = []
    let next = 1
    for (const source of sources) {
      const id = sources.length === 1 ? task.code : source.table
      const filled = fillLayer(db, source, { id, fields, first: next, ownId, bounds })
      layers.push({ id, name: source.table, geometry_type: filled.geometryType, feature_count: filled.count })
      next += filled.count
    }
    db.exec('COMMIT')
    finish(db)
    const kinds = new Set(layers.map((layer) => layer.geometry_type).filter((kind) => kind !== null))
    const description: IndexDescription = {
      version: 1,
      storage_crs: task.crs,
      bounds: bounds.value(),
      feature_count: next - 1,
      geometry_type: kinds.size === 0 ? null : kinds.size === 1 ? ([...kinds][0] as string) : 'Geometry',
      layers,
      fields,
    }
    db.exec('BEGIN')
    const { texts, asciiFolded } = writeFeatureTexts(db, description)
    db.exec('COMMIT')
    const folding = fields.map((field) => ({ ...field, ascii_folding: asciiFolded.has(field.column) }))
    return { ...description, fields: folding, texts }
  } finally {
    db.close()
  }
}

/** Adds indexes for rare values. An id that several features share does not identify any of them. */
function finish(db: DatabaseSyncInstance): void {
  db.exec(`
    CREATE INDEX features_feature_id ON features (feature_id) WHERE feature_id IS NOT NULL;
    CREATE INDEX features_without_geometry ON features (fid) WHERE geom IS NULL;
    UPDATE features SET feature_id = NULL WHERE feature_id IN (
      SELECT feature_id FROM features WHERE feature_id IS NOT NULL GROUP BY feature_id HAVING count(*) > 1)`)
}

function layersOf(db: DatabaseSyncInstance, ownId: string | null): SourceLayer[] {
  const tables = db.prepare('SELECT table_name AS name FROM converted.gpkg_geometry_columns ORDER BY rowid').all() as {
    name: string
  }[]
  const hasTypes = db.prepare("SELECT 1 FROM converted.sqlite_master WHERE name = 'gpkg_data_columns'").get()
  const json = new Set(
    hasTypes === undefined
      ? []
      : (
          db
            .prepare(
              "SELECT table_name AS t, column_name AS c FROM converted.gpkg_data_columns WHERE mime_type = 'application/json'",
            )
            .all() as { t: string; c: string }[]
        ).map(({ t, c }) => `${t}\n${c}`),
  )
  return tables.map(({ name: table }) => {
    const columns = db.prepare('SELECT name, type FROM pragma_table_info(?, ?)').all(table, 'converted') as {
      name: string
      type: string
    }[]
    const own = columns.filter(({ name }) => name !== CONVERTED_ID && name !== CONVERTED_GEOMETRY && name !== ownId)
    return {
      table,
      columns: own.map(({ name, type }) => ({ name, type: json.has(`${table}\n${name}`) ? 'json' : typeOf(type) })),
    }
  })
}

/** Returns the type of a column that GDAL has written. */
function typeOf(declared: string): IndexField['type'] {
  const type = declared.replace(/\(.*/, '').toUpperCase()
  if (type === 'BOOLEAN') return 'boolean'
  if (type === 'DATE') return 'date'
  if (type === 'DATETIME') return 'datetime'
  if (/^(?:TINYINT|SMALLINT|MEDIUMINT|INT|INTEGER)$/.test(type)) return 'integer'
  if (/^(?:REAL|DOUBLE|FLOAT)$/.test(type)) return 'number'
  return 'string'
}

/** Merges fields of several layers that have the same name and type. */
function fieldsOf(sources: readonly SourceLayer[], code: string): IndexField[] {
  const fields: IndexField[] = []
  const taken = new Set(['fid', 'geom', 'layer', 'feature_id', 'rowid', 'oid', '_rowid_'])
  for (const { table, columns } of sources) {
    const layer = sources.length === 1 ? code : table
    for (const { name, type } of columns) {
      const same = fields.find((field) => field.name === name && field.type === type)
      if (same !== undefined) {
        same.layers.push(layer)
        continue
      }
      let column = name
      for (let n = 2; taken.has(column.toLowerCase()); n++) column = `${name}_${n}`
      taken.add(column.toLowerCase())
      fields.push({ name, column, type, layers: [layer] })
    }
  }
  return fields
}

const SQL_TYPES: Readonly<Record<IndexField['type'], string>> = {
  string: 'TEXT',
  number: 'REAL',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'DATETIME',
  json: 'TEXT',
}

/** GeoPackage 1.3, with what its tools need of it. Geometries come last: a filter by attributes does not read past large ones. */
function createTables(db: DatabaseSyncInstance, fields: readonly IndexField[]): void {
  const columns = fields.map(({ column, type }) => `, ${quoted(column)} ${SQL_TYPES[type]}`).join('')
  db.exec(`
    PRAGMA application_id = 1196444487;
    PRAGMA user_version = 10300;
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
      organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
    INSERT INTO gpkg_spatial_ref_sys SELECT srs_name, srs_id, organization, organization_coordsys_id, definition, description
      FROM converted.gpkg_spatial_ref_sys;
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT, description TEXT DEFAULT '',
      last_change DATETIME, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
    INSERT INTO gpkg_contents VALUES ('features', 'features', 'features', '', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), NULL, NULL, NULL, NULL, 4326);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT PRIMARY KEY, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
      srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL);
    INSERT INTO gpkg_geometry_columns VALUES ('features', 'geom', 'GEOMETRY', 4326, 2, 2);
    CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL);
    INSERT INTO gpkg_extensions VALUES ('features', 'geom', 'gpkg_rtree_index', 'http://www.geopackage.org/spec120/#extension_rtree', 'write-only');
    CREATE TABLE features (fid INTEGER PRIMARY KEY, layer TEXT, feature_id TEXT${columns}, geom GEOMETRY);
    CREATE VIRTUAL TABLE rtree_features_geom USING rtree(id, minx, maxx, miny, maxy)`)
}

interface Filling {
  readonly id: string
  readonly fields: readonly IndexField[]
  /** fid of its first feature */
  readonly first: number
  readonly ownId: string | null
  readonly bounds: Bounds
}

function fillLayer(db: DatabaseSyncInstance, { table, columns }: SourceLayer, filling: Filling) {
  const { id, fields, first, ownId, bounds } = filling
  const target = columns.map(
    ({ name, type }) => fields.find((field) => field.name === name && field.type === type) as IndexField,
  )
  const into = ['fid', 'geom', 'layer', 'feature_id', ...target.map(({ column }) => quoted(column))].join(', ')
  const hasOwnId =
    ownId === CONVERTED_ID ||
    (ownId !== null &&
      db.prepare('SELECT 1 FROM pragma_table_info(?, ?) WHERE name = ?').get(table, 'converted', ownId) !== undefined)
  const own = hasOwnId ? `CAST(${quoted(ownId as string)} AS TEXT)` : 'NULL'
  const from = [
    `row_number() OVER (ORDER BY ${CONVERTED_ID}) + ?`,
    CONVERTED_GEOMETRY,
    '?',
    own,
    ...columns.map(({ name }) => quoted(name)),
  ].join(', ')
  db.prepare(
    `INSERT INTO features (${into}) SELECT ${from} FROM converted.${quoted(table)} ORDER BY ${CONVERTED_ID}`,
  ).run(first - 1, id)
  const select = db.prepare('SELECT fid, geom FROM features WHERE fid >= ? ORDER BY fid LIMIT ?')
  const update = db.prepare('UPDATE features SET geom = ? WHERE fid = ?')
  const insert = db.prepare('INSERT INTO rtree_features_geom VALUES (?, ?, ?, ?, ?)')
  const kinds = new Set<number>()
  let next = first
  for (;;) {
    const rows = select.all(next, CHUNK) as { fid: number; geom: Uint8Array | null }[]
    if (rows.length === 0) break
    const boxes: { fid: number; box: Box }[] = []
    for (const { fid, geom } of rows) {
      if (geom === null) continue
      const box = new Box()
      const kind = visitGeometry(geom, box)
      if (kind < 0 || !box.isFinite) {
        update.run(null, fid)
        continue
      }
      if (box.turned) update.run(geom, fid)
      if (box.isEmpty) continue
      if (
        box.west < -MAX_LONGITUDE ||
        box.east > MAX_LONGITUDE ||
        box.south < -MAX_LATITUDE ||
        box.north > MAX_LATITUDE
      )
        throw new VectorFault(coded('vector_not_degrees'))
      kinds.add(kind)
      bounds.add(box)
      boxes.push({ fid, box })
    }
    // Neighbours in the tree are neighbours on the map.
    boxes.sort((a, b) => a.box.cell - b.box.cell)
    for (const { fid, box } of boxes) insert.run(fid, box.west, box.east, box.south, box.north)
    next += rows.length
  }
  const [only] = kinds
  const geometryType =
    kinds.size === 0 ? null : kinds.size === 1 ? (NUMBERED_GEOMETRY_TYPES[only as number] as string) : commonKind(kinds)
  return { count: next - first, geometryType }
}

/** Maximum longitude: larger than 180, because some files extend beyond the antimeridian. */
const MAX_LONGITUDE = 720
const MAX_LATITUDE = 90.001

/** Returns the common kind. A mix of polygons and multipolygons counts as multipolygons, as the catalog describes a file. */
function commonKind(kinds: ReadonlySet<number>): string {
  for (const single of [1, 2, 3]) {
    if ([...kinds].every((kind) => kind === single || kind === single + 3))
      return NUMBERED_GEOMETRY_TYPES[single + 3] as string
  }
  return 'Geometry'
}

/** The box of a geometry. Also reverses its rings to the order of RFC 7946. */
class Box {
  west = Number.POSITIVE_INFINITY
  south = Number.POSITIVE_INFINITY
  east = Number.NEGATIVE_INFINITY
  north = Number.NEGATIVE_INFINITY
  isFinite = true
  /** true if a ring was reversed in the blob */
  turned = false

  get isEmpty(): boolean {
    return this.west > this.east
  }

  /** A cell of a grid, counted row by row. */
  get cell(): number {
    return Math.floor((this.south + 90) * 8) * 16_384 + Math.floor((this.west + 720) * 8)
  }

  points(coordinates: Float64Array, size: number): void {
    // An empty point has NaN coordinates.
    if (coordinates.every(Number.isNaN)) return
    this.#add(coordinates, size)
  }

  line(coordinates: Float64Array, size: number): void {
    this.#add(coordinates, size)
  }

  ring(coordinates: Float64Array, size: number, isOuter: boolean, at: Parameters<typeof reverseRing>[2]): void {
    this.#add(coordinates, size)
    const area = ringArea(coordinates, size)
    if (area === 0 || area > 0 === isOuter) return
    reverseRing(coordinates, size, at)
    this.turned = true
  }

  #add(coordinates: Float64Array, size: number): void {
    for (let i = 0; i + 1 < coordinates.length; i += size) {
      const x = coordinates[i] as number
      const y = coordinates[i + 1] as number
      if (!Number.isFinite(x) || !Number.isFinite(y)) this.isFinite = false
      if (x < this.west) this.west = x
      if (x > this.east) this.east = x
      if (y < this.south) this.south = y
      if (y > this.north) this.north = y
    }
  }
}

class Bounds {
  readonly #all = new Box()

  add(box: Box): void {
    this.#all.west = Math.min(this.#all.west, box.west)
    this.#all.south = Math.min(this.#all.south, box.south)
    this.#all.east = Math.max(this.#all.east, box.east)
    this.#all.north = Math.max(this.#all.north, box.north)
  }

  value(): [number, number, number, number] | null {
    const { west, south, east, north, isEmpty } = this.#all
    if (isEmpty) return null
    const wraps = west < -180 || east > 180
    return [wraps ? -180 : west, Math.max(-90, south), wraps ? 180 : east, Math.min(90, north)]
  }
}
