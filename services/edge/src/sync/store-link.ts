import type { Settings } from '@gateway/core/settings/load.js'
import { openStore, type Sql } from '@gateway/store/connect.js'

/** Time-out in ms of a query. The database client has none: a query to a frozen database would wait for ever. */
export const QUERY_TIMEOUT_MS = 2_000

/** Thrown if the store did not answer in time. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout'
}

/**
 * The connection to the store. Its pool is replaced when a query gets no answer: otherwise a pool with dead connections would stay
 * dead as long as TCP retries.
 */
export class StoreLink {
  readonly #open: () => Sql
  readonly #onReplaced: () => void
  #sql: Sql
  #closed = false

  /** @param onReplaced called after a new pool has replaced the old one */
  constructor(open: () => Sql, onReplaced: () => void) {
    this.#open = open
    this.#onReplaced = onReplaced
    this.#sql = open()
  }

  get sql(): Sql {
    return this.#sql
  }

  /** Runs a query function with the current pool. Rejects with StoreTimeout after `timeoutMs`. */
  async query<T>(run: (sql: Sql) => Promise<T>, timeoutMs: number = QUERY_TIMEOUT_MS): Promise<T> {
    const sql = this.#sql
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreTimeout(`the store did not answer within ${timeoutMs} ms`)), timeoutMs)
    })
    const answer = run(sql)
    // A result after the time-out, usually the error of the pool's end, is ignored.
    answer.catch(() => {})
    try {
      return await Promise.race([answer, late])
    } catch (error) {
      if (error instanceof StoreTimeout) this.#replace(sql)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await end(this.#sql)
  }

  #replace(dead: Sql): void {
    if (this.#sql !== dead || this.#closed) return
    this.#sql = this.#open()
    void end(dead)
    this.#onReplaced()
  }
}

/** Returns the link to the replica that DATABASE_READ_URL names, or null. */
export function replicaLink(
  { databaseReadUrl }: Pick<Settings, 'databaseReadUrl'>,
  applicationName: string,
  maxConnections: number,
): StoreLink | null {
  if (databaseReadUrl === null) return null
  return new StoreLink(
    () => openStore(databaseReadUrl, { applicationName, maxConnections }),
    () => {},
  )
}

/** Time in seconds for a pool's queries to end on their own. */
const END_SECONDS = 1

async function end(sql: Sql): Promise<void> {
  await sql.end({ timeout: END_SECONDS }).catch(() => {})
}
