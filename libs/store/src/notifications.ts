import type { NotificationKind } from '@gateway/contracts/without-schemas.js'
import type { Queryable, Transaction } from './connect.js'
import { DELIVERIES_CHANNEL, type Delivery, readDelivery } from './deliveries.js'
import { type Listed, type ListRequest, readList } from './listing.js'

export interface StoredRule {
  readonly id: string
  readonly email: string | null
  readonly targetCode: string | null
  readonly kinds: readonly NotificationKind[]
  readonly enabled: boolean
  readonly createdAt: Date
}

export const RULES_LISTING = {
  searched: { email: 'email', target: 'target_code' },
  sortable: { created_at: 'created_at', email: 'email', target_code: 'target_code' },
  nullable: ['email', 'target_code'],
  order: '-created_at',
  key: 'id',
  filters: { enabled: 'enabled = $', kind: '$ = ANY(kinds)' },
} as const

function ruleColumns(sql: Queryable) {
  return sql`id, email, target_code AS "targetCode", kinds, enabled, created_at AS "createdAt"`
}

export function listRules(sql: Queryable, request: ListRequest): Promise<Listed<StoredRule>> {
  return readList<StoredRule>(sql, RULES_LISTING, { columns: ruleColumns(sql), from: sql`notification_rules` }, request)
}

export async function readRule(sql: Queryable, id: string): Promise<StoredRule | null> {
  const [row] = await sql<StoredRule[]>`SELECT ${ruleColumns(sql)} FROM notification_rules WHERE id = ${id}`
  return row ?? null
}

/** Saves a rule under its id, or a new one without an id. Returns null if the id does not exist. */
export async function saveRule(
  tx: Transaction,
  { id, email, targetCode, kinds, enabled }: Omit<StoredRule, 'id' | 'createdAt'> & { readonly id: string | null },
): Promise<StoredRule | null> {
  const [row] =
    id === null
      ? await tx<StoredRule[]>`
          INSERT INTO notification_rules (email, target_code, kinds, enabled)
          VALUES (${email}, ${targetCode}, ${kinds as string[]}, ${enabled}) RETURNING ${ruleColumns(tx)}`
      : await tx<StoredRule[]>`
          UPDATE notification_rules SET email = ${email}, target_code = ${targetCode}, kinds = ${kinds as string[]}, enabled = ${enabled}
          WHERE id = ${id} RETURNING ${ruleColumns(tx)}`
  return row ?? null
}

export async function deleteRule(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM notification_rules WHERE id = ${id}`
  return count > 0
}

/** Returns the enabled rules. */
export async function enabledRules(sql: Queryable): Promise<readonly StoredRule[]> {
  return sql<StoredRule[]>`SELECT ${ruleColumns(sql)} FROM notification_rules WHERE enabled ORDER BY created_at`
}

export interface AttentionItem {
  readonly kind: NotificationKind
  /** name for people */
  readonly name: string
  readonly message: string
}

/** Days before the expiry of an active token at which it needs attention; the same as in the console. */
const EXPIRES_WITHIN_DAYS = 14
/** Seconds of silence after which an edge process without a regular stop needs attention. */
const GONE_AFTER_SECONDS = 60

/** Selects the items that need attention now: kind, identity, name and reason. */
function attention(sql: Queryable) {
  return sql`
    SELECT 'push_failed' AS kind, id::text || ' ' || updated_at AS item,
           coalesce(basemap_code || coalesce(' ' || version, ''), vector_code, '') || ' → ' || coalesce(target_code, '') AS name, message
    FROM deliveries
    WHERE status = 'failed' AND acknowledged_at IS NULL AND kind IN ('basemap_push', 'vector_push', 'cache_purge')
    UNION ALL
    SELECT 'slice_failed', id::text, coalesce(nullif(name, ''), target_code), message FROM slice_jobs
    WHERE status = 'failed' AND NOT cancelled AND acknowledged_at IS NULL
    UNION ALL
    SELECT 'scan_failed', last.id::text, code, last.message FROM scan_sources, LATERAL (
      SELECT id, status, message FROM scans WHERE source_code = code AND finished_at IS NOT NULL ORDER BY started_at DESC LIMIT 1) AS last
    WHERE last.status = 'failed'
    UNION ALL
    SELECT 'export_failed', id::text, basemap_code || ' ' || version, message FROM exports WHERE status = 'failed'
    UNION ALL
    SELECT 'unavailable', 'basemap ' || v.basemap_code || ' ' || v.version, v.basemap_code || ' ' || v.version, ''
    FROM basemap_versions v JOIN basemaps b ON b.code = v.basemap_code
    WHERE NOT v.available AND NOT v.withdrawn AND NOT b.withdrawn
    UNION ALL
    SELECT 'unavailable', 'vector ' || code, code, '' FROM vectors WHERE NOT available AND NOT withdrawn
    UNION ALL
    SELECT 'token_expiring', id::text || ' ' || expires_at, name || ' (' || prefix || '…)', expires_at::text FROM tokens
    WHERE disabled_at IS NULL AND expires_at > now() AND expires_at < now() + make_interval(days => ${EXPIRES_WITHIN_DAYS})
    UNION ALL
    SELECT 'edge_gone', id::text, host || ' ' || pid, '' FROM edge_presence
    WHERE seen_at < now() - make_interval(secs => ${GONE_AFTER_SECONDS})`
}

/**
 * Returns the items that need attention and were not reported yet, and marks them as reported. Deletes the marks of those that no longer need it.
 * @param kinds that have a rule
 */
export async function takeNews(tx: Transaction, kinds: readonly NotificationKind[]): Promise<readonly AttentionItem[]> {
  return tx<AttentionItem[]>`
    WITH current AS MATERIALIZED (SELECT * FROM (${attention(tx)}) AS found WHERE kind = ANY(${kinds as string[]})),
    forgotten AS (
      DELETE FROM notified WHERE NOT EXISTS (SELECT FROM current WHERE current.kind = notified.kind AND current.item = notified.item)),
    news AS (INSERT INTO notified (kind, item) SELECT kind, item FROM current ON CONFLICT DO NOTHING RETURNING kind, item)
    SELECT kind, name, message FROM current JOIN news USING (kind, item) ORDER BY kind, name`
}

export interface NewNotification {
  readonly to: Pick<StoredRule, 'email' | 'targetCode'>
  readonly body: { readonly event: string; readonly subject: string } & Readonly<Record<string, unknown>>
}

/** Inserts a message that is due at once. */
export async function insertNotification(tx: Transaction, { to, body }: NewNotification): Promise<Delivery> {
  const url = to.email === null ? null : `mailto:${to.email}`
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO deliveries (kind, lane, destination, target_code, url, body)
    VALUES ('notification', 'message', ${to.targetCode ?? 'mail'}, ${to.targetCode}, ${url}, ${tx.json(body as never)}) RETURNING id`
  await tx`SELECT pg_notify(${DELIVERIES_CHANNEL}, '')`
  return (await readDelivery(tx, 'notification', row?.id ?? '')) as Delivery
}
