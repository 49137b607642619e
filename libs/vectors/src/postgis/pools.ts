import type { DatabaseConnection, DatabaseRelation } from '@gateway/contracts/postgis.js'
import { type Database, openDatabase } from './connect.js'
import { type DatabaseFailure, type FromDatabaseProcess, UNUSED_MS } from './messages.js'

/** Time in ms for which a database that does not respond is not asked again. It doubles with each further failure. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
const END_SECONDS = 1

export interface Pool {
  readonly sql: Database
  /** Returns how the database failed, and remembers a database that is away. */
  failed(error: unknown): { readonly failure: DatabaseFailure; readonly words: string }
  /** True while the database is not asked, because it did not respond a moment ago. */
  readonly isAway: boolean
  succeeded(): void
}

interface OpenPool extends Pool {
  usedAtMs: number
  readonly source: string
  readonly channels: Set<string>
}

/** The connections to databases: a pool for each source and time limit, so that none waits for another. */
export class Pools {
  readonly #open = new Map<string, OpenPool>()
  readonly #notify: (message: Extract<FromDatabaseProcess, { notified: string }>) => void

  constructor(notify: (message: Extract<FromDatabaseProcess, { notified: string }>) => void) {
    this.#notify = notify
    setInterval(() => this.#closeUnused(), UNUSED_MS).unref()
  }

  of(connection: DatabaseConnection, relation: DatabaseRelation): Pool {
    const { statementTimeoutSeconds } = relation
    const key = JSON.stringify([connection, statementTimeoutSeconds])
    let pool = this.#open.get(key)
    if (pool === undefined) {
      const sql = openDatabase(connection, { statementTimeoutSeconds, applicationName: 'gateway postgis' })
      pool = poolOf(sql, connection.source)
      this.#open.set(key, pool)
    }
    pool.usedAtMs = performance.now()
    this.#listen(pool, relation)
    return pool
  }

  #listen({ sql, channels, source }: OpenPool, relation: DatabaseRelation): void {
    const name = relation.what === 'table' ? relation.table : relation.function
    const channel = `gateway_${name}`
    if (channels.has(channel)) return
    channels.add(channel)
    const heard = (payload: string) => this.#notify({ notified: name, source, box: boxOfPayload(payload) })
    // Nothing is heard without a connection, so that anything may have changed before each one.
    sql.listen(channel, heard, () => heard('')).catch(() => channels.delete(channel))
  }

  #closeUnused(): void {
    for (const [key, pool] of this.#open) {
      if (performance.now() - pool.usedAtMs < UNUSED_MS) continue
      this.#open.delete(key)
      void pool.sql.end({ timeout: END_SECONDS }).catch(() => {})
    }
  }
}

function poolOf(sql: Database, source: string): OpenPool {
  let [awayUntilMs, pauseMs] = [0, FIRST_PAUSE_MS]
  return {
    ...{ sql, source, usedAtMs: 0, channels: new Set<string>() },
    get isAway() {
      return performance.now() < awayUntilMs
    },
    succeeded: () => {
      pauseMs = FIRST_PAUSE_MS
    },
    failed: (error) => {
      const { code = '', message } = error as Error & { code?: string }
      const failure = failureOf(code, message)
      if (failure === 'away' && code !== NO_CONNECTION_LEFT) {
        awayUntilMs = performance.now() + pauseMs
        pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)
      }
      return { failure, words: failure === 'failed' && code === '' ? message : `${message} (${code})` }
    },
  }
}

/** The connections that are open go on while the database refuses another one. */
const NO_CONNECTION_LEFT = '53300'

/** SQLSTATEs (PostgreSQL manual, appendix A), and codes of the client for connections. The first match decides. */
const FAILURES: readonly (readonly [RegExp, DatabaseFailure])[] = [
  [/^57014$|^25P03$/, 'late'],
  [/^(08|53|57|58|28|3D)...$/, 'away'],
  [/^(42P01|42703|42501|3F000|42883|42704|42804|42846|42725|42809)$/, 'changed'],
  [/^22...$/, 'refused'],
  [/^[0-9A-Z]{5}$/, 'failed'],
  [/^[A-Z_]+$/, 'away'],
]

/**
 * PostGIS has one code for all of its errors, as Postgres has for a table that is replaced while a statement is planned. These words are of a column
 * whose type or reference system is another one, and of a table or a column that is gone.
 */
const INTERNAL = 'XX000'
const CHANGED = /must have type|mixed SRID|could not open relation|cache lookup failed/i

function failureOf(code: string, message: string): DatabaseFailure {
  if (code === INTERNAL && CHANGED.test(message)) return 'changed'
  return FAILURES.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed'
}

/** A payload of `minx,miny,maxx,maxy` in degrees; null for every other one. */
function boxOfPayload(payload: string): readonly [number, number, number, number] | null {
  const numbers = payload.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  const isBox = numbers.length === 4 && numbers.every(Number.isFinite) && west <= east && south <= north
  return isBox ? [west, south, east, north] : null
}
