import type { Target } from '@gateway/contracts/target.js'
import type { Queryable, Transaction } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'

/** A target with the secret that signs its messages, only for senders: the secret must not be returned or logged. */
export interface TargetWithSecret extends Omit<Target, 'has_secret'> {
  readonly secret: string | null
}

/** Reads targets ordered by code; `code` null: all of them. */
export async function readTargets(sql: Queryable, code: string | null = null): Promise<Target[]> {
  return sql<Target[]>`
    SELECT ${columns(sql)} FROM targets WHERE ${code}::text IS NULL OR code = ${code} ORDER BY code COLLATE "C"`
}

const WITHOUT_QUERY = "split_part(url, '?', 1)"

export const TARGET_LISTING = {
  // Only admins see the query of a URL, so nobody may find or order by it.
  searched: { code: 'code', name: 'name', address: WITHOUT_QUERY, path: 'path' },
  sortable: {
    code: 'code COLLATE "C"',
    name: 'lower(name)',
    kind: 'kind',
    url: WITHOUT_QUERY,
    path: 'path',
    mode: 'mode',
    enabled: 'enabled',
  },
  nullable: ['url', 'path'],
  order: 'code',
  key: 'code COLLATE "C"',
  filters: { kind: 'kind = $', mode: 'mode = $', enabled: 'enabled = $' },
} satisfies Listing

export function listTargets(sql: Queryable, request: ListRequest): Promise<Listed<Target>> {
  return readList<Target>(sql, TARGET_LISTING, { columns: columns(sql), from: sql`targets` }, request)
}

function columns(sql: Queryable) {
  return sql`code, name, kind, url, path, mode, enabled, secret IS NOT NULL AS has_secret`
}

export async function readTargetWithSecret(sql: Queryable, code: string): Promise<TargetWithSecret | null> {
  const [row] = await sql<TargetWithSecret[]>`
    SELECT code, name, kind, url, path, mode, enabled, secret FROM targets WHERE code = ${code}`
  return row ?? null
}

/** Deletes a target and its push records, pending ones included, so nothing is sent to it any more. An attempt in progress loses its lease. Returns false if it did not exist. */
export async function deleteTarget(tx: Transaction, code: string): Promise<boolean> {
  await tx`DELETE FROM deliveries WHERE target_code = ${code}`
  const { count } = await tx`DELETE FROM targets WHERE code = ${code}`
  return count > 0
}

export interface NewTarget extends Pick<Target, 'code' | 'kind' | 'url' | 'path' | 'mode'> {
  /** undefined keeps the name of a known target; a new one is named by its code */
  readonly name: string | undefined
  /** undefined keeps the state of a known target, and enables a new one */
  readonly enabled: boolean | undefined
  /** undefined keeps the secret of a known target; null removes it */
  readonly secret: string | null | undefined
}

/** Returns null if the call is `createsOnly` and the code exists. */
export async function upsertTarget(tx: Transaction, target: NewTarget, createsOnly = false): Promise<Target | null> {
  const { code, kind, url, path, mode, name, enabled, secret } = target
  const update = tx`
    DO UPDATE SET
      name = coalesce(${name ?? null}, targets.name), kind = excluded.kind, url = excluded.url, path = excluded.path,
      mode = excluded.mode, enabled = coalesce(${enabled ?? null}, targets.enabled),
      secret = CASE WHEN ${secret === undefined} THEN targets.secret ELSE excluded.secret END, updated_at = now()`
  const [row] = await tx<Target[]>`
    INSERT INTO targets (code, name, kind, url, path, mode, enabled, secret)
    VALUES (${code}, ${name ?? code}, ${kind}, ${url}, ${path}, ${mode}, ${enabled ?? true}, ${secret ?? null})
    ON CONFLICT (code) ${createsOnly ? tx`DO NOTHING` : update}
    RETURNING code, name, kind, url, path, mode, enabled, secret IS NOT NULL AS has_secret`
  return row ?? null
}
