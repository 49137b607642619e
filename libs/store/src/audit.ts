import type { Queryable, Sql, Transaction } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList, readRows, type Selection } from './listing.js'
import { isoDates } from './sql.js'

export interface AuditEntry {
  /** e-mail address of a signed-in user, user name of the administrator, `token` for ADMIN_TOKEN, or `system` for automatic changes */
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly subject: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/**
 * Records an administrative change in the transaction that makes it. Never pass a secret or the plaintext of a token. Position 0 makes the store
 * chain the entry when the transaction commits.
 */
export async function insertAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx`
    INSERT INTO audit (actor, address, action, subject, detail, chain_position)
    VALUES (${entry.actor}, ${entry.address}, ${entry.action}, ${entry.subject}, ${tx.json((entry.detail ?? {}) as never)}, 0)`
}

export interface AuditRow {
  readonly id: number
  readonly at: string
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly subject: string
  /** name of `subject` at that time; null if it is unknown or the subject has no name */
  readonly subject_name: string | null
  /** fields that differ; null if nothing was changed or the change is not recorded */
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
  readonly detail: Record<string, unknown>
  /** position in the chain, from 1; null if the entry is older than the chain, or no control plane inserted it */
  readonly chain_position: number | null
  /** hex SHA-256 of the previous entry, and of this one */
  readonly previous_sha256: string | null
  readonly sha256: string | null
}

/** Name, before and after are inside the detail, where entries of all ages have them. A list of entries shows them as separate fields. */
const SUBJECT_NAME = "coalesce(detail->>'name', detail->'after'->>'name', detail->'before'->>'name')"

export const AUDIT_LISTING = {
  searched: {
    actor: 'actor',
    address: 'address',
    action: 'action',
    subject: 'subject',
    "the subject's name": SUBJECT_NAME,
    'the prefix of a token': "detail->>'prefix'",
  },
  // Ids are assigned in order of insertion, so they sort by time.
  sortable: { id: 'id', at: 'id', address: 'address', actor: 'actor', action: 'action', subject: 'subject' },
  order: '-at',
  key: 'id',
  filters: {
    actor: 'actor = $',
    action: 'action = $',
    subject: 'subject = $',
    from: 'at >= $::timestamptz',
    to: 'at < $::timestamptz',
  },
} satisfies Listing

/** An entry as the database returns it, with a Date for its time. */
type StoredEntry = { readonly [K in keyof AuditRow]: unknown }

/** Lists entries, newest first. */
export async function listAudit(
  sql: Queryable,
  { before = null, ...request }: ListRequest & { readonly before?: number | null | undefined },
): Promise<Listed<AuditRow>> {
  const { items, total } = await readList<StoredEntry>(sql, AUDIT_LISTING, entriesBefore(sql, before), request)
  return { items: items.map((row) => isoDates<AuditRow>(row)), total }
}

/** Number of entries in one statement: some megabytes for entries of maximum length. */
const EXPORTED_AT_ONCE = 500

/**
 * Yields all matching entries in batches, newest first. Every batch is a separate statement, so a slow reader holds neither a connection nor a
 * snapshot of the store.
 */
export async function* exportAudit(sql: Queryable, request: ListRequest): AsyncGenerator<AuditRow[]> {
  const page = { ...request, limit: EXPORTED_AT_ONCE }
  for (let before: number | null = null; ; ) {
    const rows: StoredEntry[] = await readRows<StoredEntry>(sql, AUDIT_LISTING, entriesBefore(sql, before), page)
    const entries = rows.map((row) => isoDates<AuditRow>(row))
    if (entries.length > 0) yield entries
    const last = entries.at(-1)
    if (last === undefined || entries.length < EXPORTED_AT_ONCE) return
    before = last.id
  }
}

/** @param id null: all entries */
function entriesBefore(sql: Queryable, id: number | null): Selection {
  return {
    columns: entryColumns(sql),
    from: sql`audit`,
    ...(id !== null && { beginning: sql`id < ${id}` }),
  }
}

const entryColumns = (sql: Queryable) => sql`
  id, at, actor, address, action, subject, ${sql.unsafe(SUBJECT_NAME)} AS subject_name,
  detail->'before' AS before, detail->'after' AS after, detail,
  chain_position, encode(previous_sha256, 'hex') AS previous_sha256, encode(sha256, 'hex') AS sha256`

export async function readAuditEntry(sql: Queryable, id: number): Promise<AuditRow | null> {
  const [row] = await sql<{ readonly [K in keyof AuditRow]: unknown }[]>`
    SELECT ${entryColumns(sql)} FROM audit WHERE id = ${id}`
  return row === undefined ? null : isoDates<AuditRow>(row)
}

/** Number of entries that one statement deletes, so that it holds its locks only briefly. */
const BATCH = 5000

/** Deletes entries that are older than both `days` and the chain. Several processes may run it at once. */
export async function pruneUnchained(sql: Sql, days: number): Promise<void> {
  for (let batch = BATCH; batch === BATCH; ) {
    const { count } = await sql`
      DELETE FROM audit WHERE id IN (
        SELECT id FROM audit WHERE at < now() - make_interval(days => ${days}) AND id <= (SELECT position FROM audit_chain WHERE name = 'before')
        ORDER BY at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`
    batch = count
  }
}

/** Returns the detail of the newest entry of an action, or null. */
export async function readNewestDetail(sql: Queryable, action: string): Promise<AuditRow['detail'] | null> {
  const [row] = await sql<Pick<AuditRow, 'detail'>[]>`
    SELECT detail FROM audit WHERE action = ${action} ORDER BY id DESC LIMIT 1`
  return row?.detail ?? null
}
