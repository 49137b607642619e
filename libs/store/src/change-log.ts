import type { Change, LoggedChange, LogState } from '@gateway/contracts/change.js'
import type { Queryable, Sql, Transaction } from './connect.js'
import { noteDefaults } from './default-history.js'

/** A change that has no revision yet. */
export type NewChange = Pick<Change, 'kind' | 'key'>

/** Above this number of changes in one transaction, one `all` is logged: a full reload is then cheaper than so many look-ups. */
const MAX_LOGGED_CHANGES = 2000

/**
 * Writes changes into the log, in the transaction that makes them, and returns the log entries with their revisions. It locks the counter row until
 * the commit, so that revisions become visible in their order. Call it last in a transaction, and only once.
 */
export async function logChanges(tx: Transaction, changes: readonly NewChange[]): Promise<readonly LoggedChange[]> {
  if (changes.length === 0) return []
  // Every change of a default version passes here. This runs before the lock, which should be held only briefly.
  await noteDefaults(
    tx,
    changes.flatMap(({ kind, key }) => (kind === 'basemap' ? [key] : [])),
  )
  const logged = changes.length > MAX_LOGGED_CHANGES ? [{ kind: 'all', key: '' } as const] : changes
  // One statement, because all other changes wait from the counter's update to the commit.
  const [row] = await tx<{ revision: number; mark: string; previousMark: string }[]>`
    WITH counter AS (
      UPDATE revision_counter SET revision = revision + ${logged.length} RETURNING revision, mark, previous_mark
    ), entries AS (
      INSERT INTO change_log (revision, kind, key, mark, previous_mark)
      SELECT counter.revision - ${logged.length}::bigint + entry.place, entry.kind, entry.key, counter.mark, counter.previous_mark
      FROM counter, unnest(${logged.map((c) => c.kind)}::text[], ${logged.map((c) => c.key)}::text[])
        WITH ORDINALITY AS entry (kind, key, place)
    )
    SELECT revision, mark, previous_mark AS "previousMark" FROM counter`
  const { revision, ...marks } = row as { revision: number; mark: string; previousMark: string }
  const first = revision - logged.length + 1
  const numbered = logged.map((change, i) => ({ revision: first + i, kind: change.kind, key: change.key, ...marks }))
  return numbered
}

export interface Committed<T> {
  readonly result: T
  /** entries of the change log; empty if nothing that edges cache has changed */
  readonly changes: readonly LoggedChange[]
}

/**
 * Runs one administrative change: the work and the log entries that it returns, in one transaction. The caller then publishes `changes` on
 * the bus. If the process dies in between, edges find the changes at their next poll.
 */
export async function commitWithChanges<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<{ result: T; changes: readonly NewChange[] }>,
): Promise<Committed<T>> {
  const committed = await sql.begin(async (tx) => {
    const { result, changes } = await work(tx)
    return { result, changes: await logChanges(tx, changes) }
  })
  return committed as Committed<T>
}

/** A state of one particular store. `epoch` identifies the database, and changes after a promotion or a restore. */
export interface StoreState extends LogState {
  readonly epoch: string
}

export async function currentState(sql: Queryable): Promise<StoreState> {
  const [row] = await sql<StoreState[]>`SELECT revision, mark, store_epoch() AS epoch FROM revision_counter`
  return row as StoreState
}

export async function currentRevision(sql: Queryable): Promise<number> {
  return (await currentState(sql)).revision
}

export type ChangesSince =
  | { readonly covered: true; readonly changes: readonly Change[]; readonly state: StoreState }
  | { readonly covered: false; readonly state: StoreState }

/** Number of changes above which a reader reloads everything instead. */
const MAX_CHANGES_READ = 10_000

interface SinceRow extends StoreState {
  logged: number | null
  kind: Change['kind']
  key: string
  previousMark: string
}

/**
 * Returns the changes after a state, oldest first. `covered: false` means that this store never was in that state, or that its log no longer
 * covers it (the log was pruned, or the reader is too far behind). The reader must then drop and reload everything.
 */
export async function changesSince(sql: Queryable, known: StoreState): Promise<ChangesSince> {
  // One statement has one snapshot, so the counter and the rows belong together.
  const rows = await sql<SinceRow[]>`
    SELECT counter.revision, counter.mark, store_epoch() AS epoch,
           log.revision AS logged, log.kind, log.key, log.previous_mark AS "previousMark"
    FROM revision_counter counter
    LEFT JOIN LATERAL (
      SELECT * FROM change_log WHERE change_log.revision > ${known.revision} ORDER BY revision LIMIT ${MAX_CHANGES_READ + 1}
    ) log ON true
    ORDER BY log.revision`
  const { revision, mark, epoch, logged, previousMark } = rows[0] as SinceRow
  const state = { revision, mark, epoch }
  const changes = rows.flatMap((r) => (r.logged === null ? [] : [{ revision: r.logged, kind: r.kind, key: r.key }]))
  const foundMark = logged === null ? mark : previousMark
  const goesOn = epoch === known.epoch && foundMark === known.mark && changes.length === revision - known.revision
  return goesOn ? { covered: true, changes, state } : { covered: false, state }
}

/**
 * True if a server of the store has reached a state that another server reported. False for a replica that lags, and for a server with another
 * history, such as one that a promotion left behind.
 */
export async function hasReached(sql: Queryable, { revision, mark }: LogState): Promise<boolean> {
  const [row] = await sql<{ reached: boolean }[]>`
    SELECT (revision = ${revision}::bigint AND mark = ${mark}::uuid) OR EXISTS (
      SELECT FROM change_log WHERE change_log.revision = ${revision}::bigint + 1 AND change_log.previous_mark = ${mark}::uuid
    ) AS reached
    FROM revision_counter`
  return row?.reached === true
}

/** Returns those states that this store has been in, as far back as the log reaches. */
export async function knownStates(sql: Queryable, states: readonly LogState[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ mark: string }[]>`
    SELECT DISTINCT mark FROM change_log
    WHERE (revision, mark) IN (SELECT * FROM unnest(${states.map((s) => s.revision)}::bigint[], ${states.map((s) => s.mark)}::uuid[]))`
  return new Set(rows.map((row) => row.mark))
}

/** Hours that the log covers. An edge that was away for longer reloads everything. */
const KEPT_HOURS = 24

export async function pruneChangeLog(sql: Sql): Promise<void> {
  await sql`DELETE FROM change_log WHERE changed_at < now() - make_interval(hours => ${KEPT_HOURS})`
}
