import type { Queryable, Transaction } from './connect.js'

export interface AuditEntry {
  /** the administrator's user name, `token` for ADMIN_TOKEN, `system` for what nobody asked for */
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly subject: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Records an administrative change in the transaction that makes it. Never give it a secret or a token's plaintext. */
export async function insertAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx`
    INSERT INTO audit (actor, address, action, subject, detail)
    VALUES (${entry.actor}, ${entry.address}, ${entry.action}, ${entry.subject}, ${tx.json((entry.detail ?? {}) as never)})`
}

export interface AuditRow {
  readonly id: number
  readonly at: string
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly subject: string
  readonly detail: Record<string, unknown>
}

/** The newest entries first, older than `before` (an id) where given. */
export async function listAudit(
  sql: Queryable,
  limit: number,
  before: number | null,
): Promise<{ items: AuditRow[]; total: number }> {
  const rows = await sql<(Omit<AuditRow, 'at'> & { at: Date })[]>`
    SELECT id, at, actor, address, action, subject, detail FROM audit
    WHERE ${before}::bigint IS NULL OR id < ${before} ORDER BY id DESC LIMIT ${limit}`
  const [count] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM audit`
  return { items: rows.map((row) => ({ ...row, at: row.at.toISOString() })), total: count?.n ?? 0 }
}

/** The detail of the newest entry of an action; null: there is none. */
export async function readNewestDetail(sql: Queryable, action: string): Promise<AuditRow['detail'] | null> {
  const [row] = await sql<Pick<AuditRow, 'detail'>[]>`
    SELECT detail FROM audit WHERE action = ${action} ORDER BY id DESC LIMIT 1`
  return row?.detail ?? null
}
