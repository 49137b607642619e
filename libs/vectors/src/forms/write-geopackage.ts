import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { blobIn } from '../index-file/geometry-blob.js'
import { type IndexField, quoted } from '../index-file/index-description.js'
import { bindable, createGeopackage, SQL_TYPES } from '../index-file/index-tables.js'
import type { FormTask } from '../query/conversion.js'
import { toCrs } from '../query/crs.js'
import { inGisOrder } from '../query/flatgeobuf-encoder.js'
import { fieldsOf } from '../query/parameters.js'
import { plainText } from '../query/values.js'
import { IndexRows, type RowValue } from './rows.js'

/** Names of the key and of the geometry, of which the first is taken that is no attribute. */
const KEYS = ['fid', 'ogc_fid', 'feature_fid', '_fid']
const GEOMETRIES = ['geom', 'geometry', 'the_geom', '_geom']

/**
 * Writes a GeoPackage 1.3 with a table for each layer. Names of attributes stay, except one that differs from another only by its case, which SQLite
 * does not distinguish: it gets a number, and the table `gpkg_data_columns` has its name. Whole ids of a layer become its keys.
 */
export function writeGeopackage(task: FormTask): void {
  const { description, index, output, code } = task
  const rows = new IndexRows(index)
  const db = new DatabaseSync(output)
  try {
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    db.exec('BEGIN')
    createGeopackage(db)
    const isOne = description.layers.length === 1
    for (const { id } of description.layers) new LayerTable(db, rows, task, id, isOne ? code : id).write()
    db.exec('COMMIT')
  } finally {
    db.close()
    rows.close()
  }
}

interface Column {
  readonly field: IndexField
  readonly name: string
}

class LayerTable {
  readonly #db: DatabaseSyncInstance
  readonly #rows: IndexRows
  readonly #task: FormTask
  readonly #layer: string
  readonly #table: string
  readonly #columns: readonly Column[]
  readonly #key: string
  readonly #geometry: string
  readonly #srsId: number

  constructor(db: DatabaseSyncInstance, rows: IndexRows, task: FormTask, layer: string, table: string) {
    this.#db = db
    this.#rows = rows
    this.#task = task
    this.#layer = layer
    // The standard's own tables begin with gpkg_.
    this.#table = /^(?:gpkg_|rtree_|sqlite_)/i.test(table) ? `_${table}` : table
    const own = fieldsOf(task.description).filter(({ layers }) => layers.includes(layer))
    this.#columns = columnsOf(own)
    const isFree = (name: string) => !this.#columns.some((column) => column.name.toLowerCase() === name)
    this.#key = KEYS.find(isFree) ?? '_gateway_fid'
    this.#geometry = GEOMETRIES.find(isFree) ?? '_gateway_geom'
    this.#srsId = Number(/\/EPSG\/0\/(\d+)$/.exec(task.crs.uri)?.[1] ?? 4326)
  }

  write(): void {
    this.#create()
    const { crs } = this.#task
    const convert = inGisOrder(toCrs(crs), crs)
    const forward = convert === null ? null : ([x, y]: [number, number]) => convert(x, y)
    const isSame = crs.proj4 === null
    const hasKeys = this.#hasWholeIds()
    const names = [this.#key, this.#geometry, ...this.#columns.map(({ name }) => name)]
    const insert = this.#db.prepare(
      `INSERT INTO ${quoted(this.#table)} (${names.map(quoted).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    )
    const place = this.#db.prepare(`INSERT INTO ${quoted(this.#tree)} VALUES (?, ?, ?, ?, ?)`)
    const all = [Infinity, Infinity, -Infinity, -Infinity] as [number, number, number, number]
    let row = 0n
    const fields = this.#columns.map(({ field }) => field)
    for (const [, id, blob, ...values] of this.#rows.of(this.#layer, fields)) {
      const key = hasKeys ? BigInt(id as string) : ++row
      const made = blob instanceof Uint8Array ? blobIn(blob, isSame ? null : forward, this.#srsId) : null
      const written = made === null || typeof made === 'string' ? null : made
      insert.run(key, written?.bytes ?? null, ...values.map((value, i) => inForm(value, fields[i] as IndexField)))
      if (written === null || written.box === null) continue
      const [west, south, east, north] = written.box
      place.run(key, west, east, south, north)
      all[0] = Math.min(all[0], west)
      all[1] = Math.min(all[1], south)
      all[2] = Math.max(all[2], east)
      all[3] = Math.max(all[3], north)
    }
    if (all[0] <= all[2])
      this.#db
        .prepare('UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? WHERE table_name = ?')
        .run(...all, this.#table)
    this.#db.exec(triggersOf(this.#table, this.#geometry, this.#key))
  }

  get #tree(): string {
    return `rtree_${this.#table}_${this.#geometry}`
  }

  #hasWholeIds(): boolean {
    const others = this.#rows.value(
      `SELECT count(*) FROM features WHERE layer = ? AND (feature_id IS NULL OR feature_id NOT GLOB '[0-9]*' OR
        CAST(CAST(feature_id AS INTEGER) AS TEXT) <> feature_id)`,
      this.#layer,
    )
    return Number(others) === 0
  }

  #create(): void {
    const db = this.#db
    const hasZ = this.#task.description.has_z === true
    if (this.#srsId !== 4326)
      db.prepare('INSERT OR IGNORE INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)').run(
        `EPSG:${this.#srsId}`,
        this.#srsId,
        'EPSG',
        this.#srsId,
        'undefined',
      )
    const columns = this.#columns.map(({ name, field }) => `, ${quoted(name)} ${SQL_TYPES[field.type]}`).join('')
    db.exec(
      `CREATE TABLE ${quoted(this.#table)} (${quoted(this.#key)} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, ${quoted(this.#geometry)} GEOMETRY${columns});
       CREATE VIRTUAL TABLE ${quoted(this.#tree)} USING rtree(id, minx, maxx, miny, maxy)`,
    )
    const extension = db.prepare('INSERT OR IGNORE INTO gpkg_extensions VALUES (?, ?, ?, ?, ?)')
    db.prepare(
      "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES (?, 'features', ?, ?)",
    ).run(this.#table, this.#table, this.#srsId)
    db.prepare('INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, ?, ?, 0)').run(
      this.#table,
      this.#geometry,
      'GEOMETRY',
      this.#srsId,
      hasZ ? 2 : 0,
    )
    extension.run(
      this.#table,
      this.#geometry,
      'gpkg_rtree_index',
      'http://www.geopackage.org/spec120/#extension_rtree',
      'write-only',
    )
    const described = this.#columns.filter(({ name, field }) => name !== field.name || field.type === 'json')
    if (described.length === 0) return
    db.exec(`CREATE TABLE IF NOT EXISTS gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT, description TEXT,
      mime_type TEXT, constraint_name TEXT, CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name))`)
    extension.run(
      'gpkg_data_columns',
      null,
      'gpkg_schema',
      'http://www.geopackage.org/spec121/#extension_schema',
      'read-write',
    )
    const describe = db.prepare('INSERT INTO gpkg_data_columns VALUES (?, ?, ?, NULL, NULL, ?, NULL)')
    for (const { name, field } of described)
      describe.run(
        this.#table,
        name,
        name === field.name ? null : field.name,
        field.type === 'json' ? 'application/json' : null,
      )
  }
}

function columnsOf(fields: readonly IndexField[]): Column[] {
  const taken = new Set<string>()
  // A field whose name differs from another one by its case gets a name that no third field has.
  const spelled = new Set(fields.map(({ name, shown = name }) => shown.toLowerCase()))
  return fields.map(({ shown, ...one }) => {
    const field = { ...one, name: shown ?? one.name }
    let { name } = field
    const isFree = () => !taken.has(name.toLowerCase()) && (name === field.name || !spelled.has(name.toLowerCase()))
    for (let n = 2; !isFree(); n++) name = `${field.name}_${n}`
    taken.add(name.toLowerCase())
    return { field, name }
  })
}

function inForm(value: RowValue, { type }: IndexField): RowValue {
  return typeof value === 'string' ? plainText(type, value) : bindable(value)
}

/** The triggers that keep the tree right when other programs edit the table (OGC 12-128r18, annex F.3). */
function triggersOf(table: string, geometry: string, key: string): string {
  const [t, tree, c, i] = [quoted(table), quoted(`rtree_${table}_${geometry}`), quoted(geometry), quoted(key)]
  const trigger = (end: string) => quoted(`rtree_${table}_${geometry}_${end}`)
  const box = `NEW.${i}, ST_MinX(NEW.${c}), ST_MaxX(NEW.${c}), ST_MinY(NEW.${c}), ST_MaxY(NEW.${c})`
  const has = `(NEW.${c} NOT NULL AND NOT ST_IsEmpty(NEW.${c}))`
  const lacks = `(NEW.${c} IS NULL OR ST_IsEmpty(NEW.${c}))`
  return `
    CREATE TRIGGER ${trigger('insert')} AFTER INSERT ON ${t} WHEN ${has} BEGIN INSERT OR REPLACE INTO ${tree} VALUES (${box}); END;
    CREATE TRIGGER ${trigger('update1')} AFTER UPDATE OF ${c} ON ${t} WHEN OLD.${i} = NEW.${i} AND ${has}
      BEGIN INSERT OR REPLACE INTO ${tree} VALUES (${box}); END;
    CREATE TRIGGER ${trigger('update2')} AFTER UPDATE OF ${c} ON ${t} WHEN OLD.${i} = NEW.${i} AND ${lacks}
      BEGIN DELETE FROM ${tree} WHERE id = OLD.${i}; END;
    CREATE TRIGGER ${trigger('update3')} AFTER UPDATE ON ${t} WHEN OLD.${i} != NEW.${i} AND ${has}
      BEGIN DELETE FROM ${tree} WHERE id = OLD.${i}; INSERT OR REPLACE INTO ${tree} VALUES (${box}); END;
    CREATE TRIGGER ${trigger('update4')} AFTER UPDATE ON ${t} WHEN OLD.${i} != NEW.${i} AND ${lacks}
      BEGIN DELETE FROM ${tree} WHERE id IN (OLD.${i}, NEW.${i}); END;
    CREATE TRIGGER ${trigger('delete')} AFTER DELETE ON ${t} WHEN OLD.${c} NOT NULL BEGIN DELETE FROM ${tree} WHERE id = OLD.${i}; END;`
}
