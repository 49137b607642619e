import { createHash } from 'node:crypto'
import { coded } from '@gateway/contracts/messages.js'
import type { DatabaseRelation, PostgisChoice } from '@gateway/contracts/postgis.js'
import type { ReadFacts } from '@gateway/contracts/vector.js'
import { readDatabaseSource } from '@gateway/store/scan-sources.js'
import { readVectors } from '@gateway/store/vectors.js'
import { catalogType } from '@gateway/vectors/formats/feature.js'
import { fieldOf } from '@gateway/vectors/postgis/columns.js'
import { openDatabase } from '@gateway/vectors/postgis/connect.js'
import { type FoundRelation, NoPostgis, readRelations } from '@gateway/vectors/postgis/read-relations.js'
import type { ControlContext } from '../../../platform/context.js'
import { type FoundVector, noWarnings, warn } from '../walk/found.js'
import { WalkError } from '../walk/walk.js'
import type { Found } from '../walk/walk-process.js'

/** Seconds of one query of the database's catalogs. */
const STATEMENT_SECONDS = 10
/** Maximum number of fields that the catalog lists, as of files. */
const MAX_FIELDS = 256
const END_SECONDS = 1
const CANCELLED = /CONNECTION_(ENDED|DESTROYED|CLOSED)/

/** `password` and `choice`: of a database that is tried; the stored ones apply to others. */
interface DatabaseSource {
  readonly code: string
  readonly path: string
  readonly password?: string | undefined
  readonly choice?: PostgisChoice | undefined
}

/** Finds the tables, views and functions that a source of kind `postgis` publishes. */
export async function walkDatabase(
  ctx: Pick<ControlContext, 'sql' | 'now'>,
  { code, path, password, choice: tried }: DatabaseSource,
  signal: AbortSignal,
  onProgress: (steps: number) => void,
): Promise<Found> {
  const stored = await readDatabaseSource(ctx.sql, code)
  // The stored password belongs to the stored address.
  const known = stored?.connection.url === path ? stored.connection.password : null
  const choice = tried ?? stored?.choice ?? {}
  const sql = openDatabase(
    { source: code, url: path, password: password ?? known, pool: 1 },
    { statementTimeoutSeconds: STATEMENT_SECONDS, applicationName: 'gateway scan' },
  )
  const stop = () => void sql.end({ timeout: 0 })
  signal.addEventListener('abort', stop)
  let steps = 0
  try {
    const { relations, warnings } = await readRelations(sql, code, choice, () => onProgress(++steps))
    const before = new Map(
      (await readVectors(ctx.sql, null)).filter((one) => one.sourceCode === code).map((one) => [one.relativePath, one]),
    )
    const found = { vectors: [] as FoundVector[], warnings: noWarnings() }
    for (const said of warnings) warn(found.warnings, said)
    for (const relation of relations) {
      const vector = vectorOf(relation, path, new Date(ctx.now()))
      const was = before.get(vector.relativePath)
      // Facts that are as before are not written, so that edges read nothing after a scan without changes.
      const isSame =
        was?.available === true &&
        was.fingerprint === vector.fingerprint &&
        was.path === vector.path &&
        isSameFacts(was.facts, vector.facts)
      found.vectors.push(isSame ? { ...vector, facts: null } : vector)
    }
    return { kind: 'vector', found, steps }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NoPostgis) throw new WalkError(coded('postgis_absent'))
    const { code: cause = '', message } = error as Error & { code?: string }
    if (cause === '' && !CANCELLED.test(message)) throw error
    throw new WalkError(coded('postgis_unreachable', { words: `${message} (${cause})` }))
  } finally {
    signal.removeEventListener('abort', stop)
    await sql.end({ timeout: END_SECONDS }).catch(() => {})
  }
}

const nameOf = (relation: DatabaseRelation) => (relation.what === 'table' ? relation.table : relation.function)

function vectorOf(found: FoundRelation, address: string, now: Date): FoundVector {
  const { relation, comment, geometryType, bounds, count } = found
  const name = nameOf(relation)
  // The text behind the last dot of a path is no part of a code.
  const place = found.name.slice(relation.schema.length + 1)
  const relativePath = `${relation.schema}/${place}${/\./.test(place) ? '.table' : ''}`
  const columns = relation.what === 'table' ? relation.columns : []
  const facts: ReadFacts = {
    crs: relation.what === 'table' ? `EPSG:${relation.srid}` : 'EPSG:3857',
    bounds: bounds === null ? null : [...bounds],
    geometry_type: geometryType,
    feature_count: count === null ? null : Math.round(count),
    fields:
      columns.length > MAX_FIELDS
        ? null
        : columns.map((column) => ({ name: column.name, type: catalogType(fieldOf(column).type) })),
    encoding: 'UTF-8',
    encoding_source: 'format',
    relation,
    ...(comment !== null && { description: comment }),
  }
  return {
    relativePath,
    fileName: name,
    name,
    kind: relation.what === 'table' ? 'postgis' : 'postgis-function',
    path: address,
    size: 0,
    modifiedAt: now,
    // Counts and extents are estimates, which change with every analysis of the table; its structure decides about the revision.
    fingerprint: createHash('sha256').update(JSON.stringify(relation)).digest('hex').slice(0, 32),
    facts,
  }
}

function isSameFacts(was: ReadFacts | null, now: ReadFacts | null): boolean {
  return JSON.stringify(sorted(was)) === JSON.stringify(sorted(now))
}

/** The store does not keep the order of members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}
