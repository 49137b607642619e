import { onOneTurn } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import {
  type DatabaseColumn,
  type DatabaseRelation,
  type DatabaseTable,
  POSTGIS_DEFAULTS,
  type PostgisChoice,
  type PostgisOptions,
} from '@gateway/contracts/postgis.js'
import { GEOMETRY_TYPES, type GeometryType } from '@gateway/contracts/vector.js'
import { epsgDefinition } from '../formats/epsg.js'
import { quoted } from '../index-file/index-description.js'
import { formOf } from './columns.js'
import type { Database } from './connect.js'
import { boxOnSphere } from './places.js'

/** Limit: tables, views and functions of one source. */
const MAX_RELATIONS = 2_000
/** Limit: keys of the parameter of a function. */
const MAX_KEYS = 100

/** A table, view or function that a source publishes, with its facts. */
export interface FoundRelation {
  readonly relation: DatabaseRelation
  /** unique in its source: `schema-table`, with the column if the table has several geometries */
  readonly name: string
  readonly comment: string | null
  readonly geometryType: GeometryType | null
  /** an estimate of the planner; null: the table was never analyzed */
  readonly count: number | null
  /** west, south, east, north of an estimate; null: unknown */
  readonly bounds: readonly [number, number, number, number] | null
}

export interface FoundRelations {
  readonly relations: readonly FoundRelation[]
  readonly warnings: readonly CodedMessage[]
}

/** A database that has no PostGIS that the role can use. */
export class NoPostgis extends Error {
  override readonly name = 'NoPostgis'
}

/** Reads what a role may read from the database's own catalogs, without reading a table. */
export async function readRelations(
  sql: Database,
  source: string,
  choice: PostgisChoice,
  progress: () => void = () => {},
): Promise<FoundRelations> {
  const server = await readServer(sql)
  const warnings: CodedMessage[] = []
  const relations: FoundRelation[] = []
  const tables = await readTables(sql, choice)
  const used = new Map<string, number>()
  for (const { schema, table } of tables) used.set(`${schema}.${table}`, (used.get(`${schema}.${table}`) ?? 0) + 1)
  for (const row of tables.slice(0, MAX_RELATIONS)) {
    progress()
    if (!row.hasIndex)
      warnings.push(coded('postgis_no_index', { table: `${row.schema}.${row.table}`, column: row.column }))
    const found = await tableOf(sql, row, choice.options ?? {}, { ...server, source })
    if ('code' in found) warnings.push(found)
    else {
      const isOnly = used.get(`${row.schema}.${row.table}`) === 1
      relations.push({ ...found, name: [row.schema, row.table, ...(isOnly ? [] : [row.column])].join('-') })
    }
  }
  for (const found of await readFunctions(sql, source, choice))
    if (relations.length < MAX_RELATIONS) relations.push(found)
  if (tables.length > MAX_RELATIONS) warnings.push(coded('postgis_many', { limit: MAX_RELATIONS }))
  warnings.push(...missing(choice, tables, relations))
  if (server.writes.length > 0)
    warnings.push(coded('postgis_writes', { role: server.role, tables: server.writes.join(', ') }))
  return { relations, warnings }
}

interface Server {
  readonly role: string
  readonly foldsUnicode: boolean
  /** some of the tables that the role may change; `*`: it is a superuser */
  readonly writes: readonly string[]
}

const NAMED_TABLES = 3

async function readServer(sql: Database): Promise<Server> {
  const [postgis] =
    await sql`SELECT to_regproc('st_asmvtgeom') IS NOT NULL OR EXISTS (SELECT FROM pg_proc WHERE proname = 'st_asmvtgeom' AND pg_function_is_visible(oid)) AS there`
  if (postgis?.there !== true) throw new NoPostgis('PostGIS 3 is not on the search path of the role')
  const [row] = await sql<{ role: string; folds: boolean; super: boolean; writes: string[] }[]>`
    SELECT current_user AS role, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS super,
      pg_encoding_to_char((SELECT encoding FROM pg_database WHERE datname = current_database())) = 'UTF8'
        AND EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS folds,
      to_json(ARRAY(SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
          AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        ORDER BY 1 LIMIT ${NAMED_TABLES})) AS writes`
  const { role = '', folds = false, super: isSuper = false, writes = [] } = row ?? {}
  return { role, foldsUnicode: folds, writes: isSuper ? ['*'] : writes }
}

/** A list of names as one parameter: the client knows no types of arrays. */
const list = (sql: Database, names: readonly string[]) =>
  sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(names)}::text::jsonb))`

interface TableRow {
  readonly oid: number
  readonly schema: string
  readonly table: string
  readonly column: string
  readonly kind: string
  readonly isGeography: boolean
  readonly typmodType: string
  readonly srid: number
  readonly dims: number
  readonly comment: string | null
  readonly count: number | null
  readonly isPersonal: boolean
  readonly hasIndex: boolean
}

/** The schema of this gateway's own tables, of which none is ever listed. */
const OWN_TABLES = ['scan_sources', 'basemap_versions', 'change_log']

async function readTables(
  sql: Database,
  { schemas = ['public'], tables }: PostgisChoice,
): Promise<readonly TableRow[]> {
  return sql<TableRow[]>`
    SELECT c.oid::int8::float8 AS oid, n.nspname AS schema, c.relname AS table, a.attname AS column, c.relkind AS kind,
      base.typname = 'geography' AS "isGeography",
      postgis_typmod_type(typmod) AS "typmodType", postgis_typmod_srid(typmod) AS srid, postgis_typmod_dims(typmod) AS dims,
      obj_description(c.oid, 'pg_class') AS comment,
      CASE WHEN c.relkind = 'p'
        THEN (SELECT sum(nullif(leaf.reltuples, -1)) FROM pg_partition_tree(c.oid) p JOIN pg_class leaf ON leaf.oid = p.relid WHERE p.isleaf)
        ELSE nullif(c.reltuples, -1) END::float8 AS count,
      EXISTS (
        WITH RECURSIVE below AS (
          SELECT c.oid, c.relrowsecurity, c.relkind
          UNION SELECT used.oid, used.relrowsecurity, used.relkind FROM below JOIN pg_rewrite r ON r.ev_class = below.oid
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
            JOIN pg_class used ON used.oid = d.refobjid)
        SELECT FROM below WHERE relrowsecurity OR (relkind IN ('v', 'm') AND (pg_get_viewdef(oid) LIKE '%gateway.token%'
          OR EXISTS (SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_proc'::regclass
                     JOIN pg_proc p ON p.oid = d.refobjid WHERE r.ev_class = below.oid AND p.prosrc LIKE '%gateway.token%')))) AS "isPersonal",
      c.relkind NOT IN ('r', 'm', 'p') OR EXISTS (SELECT FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_am am ON am.oid = ic.relam
        WHERE i.indrelid = c.oid AND am.amname IN ('gist', 'spgist', 'brin') AND a.attnum = ANY(i.indkey)) AS "hasIndex"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    CROSS JOIN LATERAL (
      WITH RECURSIVE types AS (
        SELECT t.oid, t.typname, t.typtype, t.typbasetype, t.typtypmod, a.atttypmod AS typmod FROM pg_type t WHERE t.oid = a.atttypid
        UNION ALL SELECT t.oid, t.typname, t.typtype, t.typbasetype, t.typtypmod, greatest(types.typmod, types.typtypmod)
          FROM types JOIN pg_type t ON t.oid = types.typbasetype WHERE types.typtype = 'd')
      SELECT typname, typmod FROM types WHERE typtype <> 'd') base
    WHERE base.typname IN ('geometry', 'geography') AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition
      AND n.nspname = ANY(${list(sql, schemas)})
      AND (${tables === undefined} OR c.relname = ANY(${list(sql, tables ?? [])}) OR n.nspname || '.' || c.relname = ANY(${list(sql, tables ?? [])}))
      AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
      AND (SELECT count(*) FROM pg_class own WHERE own.relnamespace = n.oid AND own.relname = ANY(${list(sql, OWN_TABLES)})) < ${OWN_TABLES.length}
    ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C", a.attnum
    LIMIT ${MAX_RELATIONS + 1}`
}

type UnnamedRelation = Omit<FoundRelation, 'name'>

async function tableOf(
  sql: Database,
  row: TableRow,
  options: PostgisOptions,
  { foldsUnicode, source }: Server & { readonly source: string },
): Promise<UnnamedRelation | CodedMessage> {
  const { schema, table, column, isGeography } = row
  const shownName = `${schema}.${table}`
  const own = { ...options, ...options.tables?.[shownName] }
  const declared = row.srid !== 0 ? row.srid : isGeography ? 4326 : await sridOfRows(sql, row)
  const srid = declared !== 0 ? declared : (own.srid ?? 0)
  if (srid === 0) return coded('postgis_no_srid', { table: shownName, column })
  const [system] = await sql<{ proj4: string; code: number | null }[]>`
    SELECT trim(proj4text) AS proj4, CASE WHEN auth_name = 'EPSG' THEN auth_srid END AS code FROM spatial_ref_sys WHERE srid = ${srid}`
  if (system === undefined) return coded('postgis_unknown_srid', { table: shownName, srid })
  const columns = await readColumns(sql, row.oid)
  const key = own.id_column === undefined ? await readKey(sql, row.oid) : [own.id_column]
  const named = (names: readonly string[]) => names.map((name) => columns.find((one) => one.name === name))
  const keyColumns = named(key)
  const published = own.properties === undefined ? columns : named(own.properties)
  const absent = [...keyColumns, ...published].indexOf(undefined)
  if (absent >= 0)
    return coded('postgis_no_column', { table: shownName, column: [...key, ...(own.properties ?? [])][absent] ?? '' })
  const relation: DatabaseTable = {
    ...{ what: 'table', source, schema, table, geometry: column, isGeography, srid },
    setsSrid: declared === 0,
    proj4: epsgDefinition(system.code ?? 0) ?? (system.proj4 || null),
    hasZ: row.dims === 3 ? !/M$/i.test(row.typmodType) : row.dims === 4,
    mayCurve: geometryTypeOf(row.typmodType) === 'Geometry',
    columns: published as DatabaseColumn[],
    key: keyColumns as DatabaseColumn[],
    foldsUnicode,
    ...limitsOf(own),
    isPersonal: row.isPersonal,
  }
  const geometryType = geometryTypeOf(row.typmodType)
  return { relation, comment: row.comment, geometryType, count: row.count, bounds: await readExtent(sql, relation) }
}

function limitsOf({ ttl_seconds, statement_timeout_seconds }: PostgisOptions) {
  return {
    ttlSeconds: ttl_seconds ?? POSTGIS_DEFAULTS.ttlSeconds,
    statementTimeoutSeconds: statement_timeout_seconds ?? POSTGIS_DEFAULTS.statementTimeoutSeconds,
  }
}

/** The names of geometry types in a column's declaration, without dimensions. */
function geometryTypeOf(typmodType: string): GeometryType | null {
  const plain = typmodType.replace(/(ZM|Z|M)$/i, '').toLowerCase()
  return GEOMETRY_TYPES.find((type) => type.toLowerCase() === plain) ?? 'Geometry'
}

/** A column without a declared SRID, such as that of a view with an expression: the first geometry shows it. 0: it does not exist, or takes too long. */
async function sridOfRows(sql: Database, { schema, table, column }: TableRow): Promise<number> {
  try {
    const [row] = await sql.unsafe(
      `SELECT ST_SRID(${quoted(column)}::geometry) AS srid FROM ${quoted(schema)}.${quoted(table)} WHERE ${quoted(column)} IS NOT NULL LIMIT 1`,
    )
    return Number(row?.srid ?? 0)
  } catch {
    return 0
  }
}

/** A cast to `character` or `bit` means one letter or bit; their names in the catalog mean any number. */
async function readColumns(sql: Database, oid: number): Promise<DatabaseColumn[]> {
  const rows = await sql<{ name: string; type: string; base: string; category: string; isComposite: boolean }[]>`
    WITH RECURSIVE types AS (
      SELECT oid AS of, oid, typtype, typbasetype FROM pg_type
        WHERE oid IN (SELECT atttypid FROM pg_attribute WHERE attrelid = ${oid}::float8::int8::oid)
      UNION ALL SELECT types.of, t.oid, t.typtype, t.typbasetype FROM types JOIN pg_type t ON t.oid = types.typbasetype WHERE types.typtype = 'd')
    SELECT a.attname AS name, CASE WHEN base.typname ~ '^_?(bpchar|bit)$' THEN quote_ident(base.typname) ELSE format_type(base.oid, NULL) END AS type, base.typname AS base, base.typcategory AS category, base.typtype = 'c' AS "isComposite"
    FROM pg_attribute a JOIN types ON types.of = a.atttypid AND types.typtype <> 'd' JOIN pg_type base ON base.oid = types.oid
    WHERE a.attrelid = ${oid}::float8::int8::oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attnum`
  return rows.flatMap(({ name, type, base, category, isComposite }) => {
    const form = formOf(base, category, isComposite)
    return form === null ? [] : [{ name, type, form }]
  })
}

/** Returns the columns of the primary key, or of the first unique index whose columns are never null. */
async function readKey(sql: Database, oid: number): Promise<string[]> {
  const [row] = await sql<{ names: string[] }[]>`
    SELECT to_json(ARRAY(SELECT a.attname FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, n)
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.n)) AS names
    FROM pg_index i
    WHERE i.indrelid = ${oid}::float8::int8::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) k (attnum) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                      WHERE NOT a.attnotnull OR NOT has_column_privilege(a.attrelid, a.attnum, 'SELECT'))
    ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid LIMIT 1`
  return row?.names ?? []
}

/** Reads the extent from the planner's statistics; null for a view, and for a table that was never analyzed. */
async function readExtent(sql: Database, table: DatabaseTable): Promise<FoundRelation['bounds']> {
  try {
    const bounds = table.isGeography ? await extentOnSphere(sql, table) : await extentInPlane(sql, table)
    if (bounds?.every(Number.isFinite) !== true) return null
    // Estimates have a margin, which may lie beyond the world.
    const [west, south, east, north] = bounds
    return onOneTurn([west, Math.max(-90, south), east, Math.min(90, north)])
  } catch {
    return null
  }
}

/** The tables and materialized views that hold the rows of a table. */
const leavesOf = (sql: Database, { schema, table }: DatabaseTable) => sql`
  SELECT leaf.oid, n.nspname, leaf.relname FROM (SELECT format('%I.%I', ${schema}::text, ${table}::text)::regclass AS oid) t
  CROSS JOIN LATERAL (SELECT t.oid AS relid UNION SELECT relid FROM pg_partition_tree(t.oid) WHERE isleaf) p
  JOIN pg_class leaf ON leaf.oid = p.relid AND leaf.relkind IN ('r', 'm') JOIN pg_namespace n ON n.oid = leaf.relnamespace`

async function extentInPlane(sql: Database, table: DatabaseTable): Promise<FoundRelation['bounds']> {
  // PostGIS puts the names into quotes, and does not double those within them.
  const [row] = await sql<{ west: number | null; south: number; east: number; north: number }[]>`
    WITH parts AS (
      SELECT ST_EstimatedExtent(replace(nspname, '"', '""'), replace(relname, '"', '""'), ${table.geometry}) AS box
      FROM (${leavesOf(sql, table)}) leaves),
    whole AS (SELECT ST_SetSRID(ST_Extent(box::geometry)::geometry, ${table.srid}::int) AS box FROM parts WHERE box IS NOT NULL),
    area AS (SELECT ST_Transform(ST_Segmentize(box, greatest(ST_XMax(box) - ST_XMin(box), ST_YMax(box) - ST_YMin(box), 1e-6) / 16), 4326) AS area FROM whole)
    SELECT ST_XMin(area) AS west, ST_YMin(area) AS south, ST_XMax(area) AS east, ST_YMax(area) AS north FROM area WHERE area IS NOT NULL`
  return row === undefined || row.west === null ? null : [row.west, row.south, row.east, row.north]
}

/** Statistics of geographies are those of positions on a sphere of the radius 1. */
async function extentOnSphere(sql: Database, table: DatabaseTable): Promise<FoundRelation['bounds']> {
  const rows = await sql<{ extent: { min: readonly number[]; max: readonly number[] } | null }[]>`
    SELECT (_postgis_stats(oid::regclass, ${table.geometry}::text, 'N')::json)->'extent' AS extent
    FROM (${leavesOf(sql, table)}) leaves
    WHERE EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = nspname AND s.tablename = relname AND s.attname = ${table.geometry}::text)`
  const boxes = rows.flatMap(({ extent }) => (extent === null ? [] : [extent]))
  return boxes.length === 0 ? null : boxOnSphere(boxes)
}

async function readFunctions(
  sql: Database,
  source: string,
  { schemas = ['public'], functions, options = {} }: PostgisChoice,
): Promise<FoundRelation[]> {
  const rows = await sql<
    {
      schema: string
      name: string
      query: 'json' | 'jsonb' | null
      keys: string[]
      comment: string | null
      isPersonal: boolean
    }[]
  >`
    SELECT DISTINCT ON (n.nspname, p.proname) n.nspname AS schema, p.proname AS name,
      CASE p.pronargs WHEN 4 THEN format_type(p.proargtypes[3], NULL) END AS query, obj_description(p.oid, 'pg_proc') AS comment,
      to_json(ARRAY(SELECT DISTINCT found[1] FROM regexp_matches(pg_get_functiondef(p.oid),
        '(?:^|\\W)(?:\\$4|' || regexp_replace(coalesce(nullif(p.proargnames[4], ''), '$4'), '(\\W)', '\\\\\\1', 'g') || ')\\s*->>?\\s*''([^'']{1,63})''', 'g') AS found
        WHERE p.pronargs = 4 ORDER BY 1 LIMIT ${MAX_KEYS})) AS keys,
      p.prosrc LIKE '%gateway.token%' AS "isPersonal"
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prokind = 'f' AND NOT p.proretset AND p.prorettype = 'bytea'::regtype AND p.proargtypes[0] = 'int4'::regtype
      AND p.proargtypes[1] = 'int4'::regtype AND p.proargtypes[2] = 'int4'::regtype
      AND (p.pronargs = 3 OR (p.pronargs = 4 AND p.proargtypes[3] IN ('json'::regtype, 'jsonb'::regtype)))
      AND n.nspname = ANY(${list(sql, schemas)})
      AND (${functions === undefined} OR p.proname = ANY(${list(sql, functions ?? [])}) OR n.nspname || '.' || p.proname = ANY(${list(sql, functions ?? [])}))
      AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    ORDER BY n.nspname, p.proname, p.pronargs DESC LIMIT ${MAX_RELATIONS}`
  return rows.map(({ schema, name, query, keys, comment, isPersonal }) => {
    const own = { ...options, ...options.tables?.[`${schema}.${name}`] }
    const about = { what: 'function', source, schema, function: name, query, keys } as const
    const relation = { ...about, ...limitsOf(own), isPersonal }
    return { relation, name: `${schema}-${name}`, comment, geometryType: null, count: null, bounds: null }
  })
}

/** Names what the source lists and the role cannot read, or the database does not have. */
function missing(
  { tables = [], functions = [] }: PostgisChoice,
  rows: readonly TableRow[],
  relations: readonly FoundRelation[],
): CodedMessage[] {
  const known = new Set(rows.flatMap(({ schema, table }) => [table, `${schema}.${table}`]))
  for (const { relation } of relations)
    if (relation.what === 'function') known.add(relation.function).add(`${relation.schema}.${relation.function}`)
  return [...tables, ...functions]
    .filter((name) => !known.has(name))
    .map((name) => coded('postgis_not_found', { table: name }))
}
