import type { Change } from '@gateway/contracts/change.js'
import type { Queryable, Sql, Transaction } from './connect.js'

/** A change before it has its revision. */
export type NewChange = Pick<Change, 'kind' | 'key'>

/** More changes than this in one transaction are logged as one `all`: reloading everything is then cheaper than so many look-ups. */
const MAX_LOGGED_CHANGES = 2000

/**
 * Writes changes into the log of the transaction that makes them, and answers the log entries with their revisions. Takes the lock on
 * the counter row until the commit, so that revisions become visible in their order: call it last in a transaction.
 */
export async function logChanges(tx: Transaction, changes: readonly NewChange[]): Promise<readonly Change[]> {
  if (changes.length === 0) return []
  const logged = changes.length > MAX_LOGGED_CHANGES ? [{ kind: 'all', key: '' } as const] : changes
  const [row] = await tx<{ revision: number }[]>`
    UPDATE revision_counter SET revision = revision + ${logged.length} RETURNING revision`
  const first = (row as { revision: number }).revision - logged.length + 1
  const numbered = logged.map((change, i) => ({ revision: first + i, kind: change.kind, key: change.key }))
  await tx`
    INSERT INTO change_log (revision, kind, key)
    SELECT * FROM unnest(
      ${numbered.map((c) => c.revision)}::bigint[], ${numbered.map((c) => c.kind)}::text[], ${numbered.map((c) => c.key)}::text[])`
  return numbered
}

export async function currentRevision(sql: Queryable): Promise<number> {
  const [row] = await sql<{ revision: number }[]>`SELECT revision FROM revision_counter`
  return (row as { revision: number }).revision
}

export type ChangesSince =
  | { readonly covered: true; readonly changes: readonly Change[]; readonly revision: number }
  | { readonly covered: false; readonly revision: number }

/** A reader that is further behind than this reloads everything instead. */
const MAX_CHANGES_READ = 10_000

/**
 * The changes after a revision, oldest first. `covered: false` means that the log cannot tell (it was pruned beyond that revision, the
 * reader is too far behind, or the store was restored from a backup and is behind the reader): reload everything.
 */
export async function changesSince(sql: Queryable, revision: number): Promise<ChangesSince> {
  // One statement, one snapshot: the counter and the rows belong together.
  const rows = await sql<{ current: number; revision: number | null; kind: Change['kind']; key: string }[]>`
    SELECT counter.revision AS current, log.revision, log.kind, log.key
    FROM revision_counter counter
    LEFT JOIN LATERAL (
      SELECT * FROM change_log WHERE change_log.revision > ${revision} ORDER BY revision LIMIT ${MAX_CHANGES_READ + 1}
    ) log ON true
    ORDER BY log.revision`
  const current = (rows[0] as { current: number }).current
  const changes = rows.flatMap((r) => (r.revision === null ? [] : [{ revision: r.revision, kind: r.kind, key: r.key }]))
  if (changes.length !== current - revision) return { covered: false, revision: current }
  return { covered: true, changes, revision: current }
}

/** How long the log reaches back; an edge that was away for longer reloads everything. */
const KEPT_HOURS = 24

export async function pruneChangeLog(sql: Sql): Promise<void> {
  await sql`DELETE FROM change_log WHERE changed_at < now() - make_interval(hours => ${KEPT_HOURS})`
}
