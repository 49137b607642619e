import { z } from 'zod'

/** Limits of the options of a database: connections of each edge process, seconds of one statement, seconds for which a tile is kept. */
const MOST_CONNECTIONS = 64
const MOST_STATEMENT_SECONDS = 60
const MOST_TTL_SECONDS = 86_400
/** The longest name in Postgres has 63 bytes. */
const MAX_NAME = 63
const MAX_NAMES = 1_600
const MAX_TABLES = 2_000
const MAX_SRID = 998_999

const nameSchema = z.string().min(1).max(MAX_NAME)

const tableOptions = {
  ttl_seconds: z
    .int()
    .min(0)
    .max(MOST_TTL_SECONDS)
    .optional()
    .describe('seconds for which a tile is kept, also by clients; default: 60'),
  statement_timeout_seconds: z
    .int()
    .min(1)
    .max(MOST_STATEMENT_SECONDS)
    .optional()
    .describe('seconds after which the database ends a statement; default: 10'),
  srid: z.int().min(1).max(MAX_SRID).optional().describe('the SRID of geometries that declare none'),
  id_column: nameSchema
    .optional()
    .describe('the column that identifies a feature, for tables and views without a primary key'),
  properties: z.array(nameSchema).max(MAX_NAMES).optional().describe('the columns that are published; default: all'),
}

export const postgisOptionsSchema = z.strictObject({
  ...tableOptions,
  pool: z
    .int()
    .min(1)
    .max(MOST_CONNECTIONS)
    .optional()
    .describe('connections of each edge process to this database; default: 4'),
  tables: z
    .record(z.string().max(2 * MAX_NAME + 1), z.strictObject(tableOptions))
    .optional()
    .describe('options of single tables, by `schema.table`'),
})
export type PostgisOptions = z.infer<typeof postgisOptionsSchema>

export const POSTGIS_DEFAULTS = { ttlSeconds: 60, statementTimeoutSeconds: 10, pool: 4 }

/** Names of tables or functions, each with or without its schema. */
const namesSchema = z
  .array(
    z
      .string()
      .min(1)
      .max(2 * MAX_NAME + 1),
  )
  .max(MAX_TABLES)

/** The parts of a database that are published. */
export const postgisChoiceSchema = z.strictObject({
  schemas: z.array(nameSchema).min(1).max(MAX_TABLES).optional().describe('default: `public`'),
  tables: namesSchema
    .optional()
    .describe('the tables and views that are published, as `table` or `schema.table`; default: all'),
  functions: namesSchema
    .optional()
    .describe('the functions that are published, as `function` or `schema.function`; default: all that make tiles'),
  options: postgisOptionsSchema.optional(),
})
export type PostgisChoice = z.infer<typeof postgisChoiceSchema>

/** How the values of a column are read. */
export const COLUMN_FORMS = [
  'integer',
  'float',
  'single',
  'numeric',
  'boolean',
  'date',
  'timestamp',
  'timestamptz',
  'json',
  'other_json',
  'text',
] as const
export type ColumnForm = (typeof COLUMN_FORMS)[number]

const columnSchema = z.object({
  name: z.string(),
  form: z.enum(COLUMN_FORMS),
  /** the type as it is written in a cast */
  type: z.string(),
})
export type DatabaseColumn = z.infer<typeof columnSchema>

const ofRelation = {
  /** code of its scan source */
  source: z.string(),
  ttlSeconds: z.number(),
  statementTimeoutSeconds: z.number(),
  /** true if what a request sees may depend on its token, so that nothing of it is kept for others */
  isPersonal: z.boolean(),
}

/** A table or view whose features are served, as the last scan has found it. */
export const databaseTableSchema = z.object({
  what: z.literal('table'),
  schema: z.string(),
  table: z.string(),
  /** the column of the geometries */
  geometry: z.string(),
  isGeography: z.boolean(),
  srid: z.int(),
  /** true if the geometries themselves have no SRID, and get this one */
  setsSrid: z.boolean(),
  /** null: the database has no definition of the SRID for PROJ */
  proj4: z.string().nullable(),
  hasZ: z.boolean(),
  /** true if geometries may have arcs, which become lines */
  mayCurve: z.boolean(),
  columns: z.array(columnSchema),
  /** columns that identify a feature; empty: none do */
  key: z.array(columnSchema),
  /** true if the database folds texts by Unicode (UTF-8 and ICU), as CASEI does */
  foldsUnicode: z.boolean(),
  ...ofRelation,
})
export type DatabaseTable = z.infer<typeof databaseTableSchema>

/** A function that makes tiles. */
export const databaseFunctionSchema = z.object({
  what: z.literal('function'),
  schema: z.string(),
  function: z.string(),
  /** type of its fourth parameter; null: it has three */
  query: z.enum(['json', 'jsonb']).nullable(),
  /** keys that its text takes from this parameter */
  keys: z.array(z.string()).optional(),
  ...ofRelation,
})
export type DatabaseFunction = z.infer<typeof databaseFunctionSchema>

export const databaseRelationSchema = z.discriminatedUnion('what', [databaseTableSchema, databaseFunctionSchema])
export type DatabaseRelation = z.infer<typeof databaseRelationSchema>

/** How to reach a database. The password is a secret. */
export interface DatabaseConnection {
  readonly source: string
  /** without a password */
  readonly url: string
  readonly password: string | null
  readonly pool: number
}
