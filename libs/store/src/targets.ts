import type { Target } from '@gateway/contracts/target.js'
import type { Queryable, Transaction } from './connect.js'

/** A target with the secret that its messages are signed with. For senders alone: never answered, never logged. */
export interface TargetWithSecret extends Omit<Target, 'has_secret'> {
  readonly secret: string | null
}

/** Targets ordered by code; `code` null reads all of them. */
export async function readTargets(sql: Queryable, code: string | null = null): Promise<Target[]> {
  return sql<Target[]>`
    SELECT code, name, kind, url, path, mode, enabled, secret IS NOT NULL AS has_secret FROM targets
    WHERE ${code}::text IS NULL OR code = ${code} ORDER BY code COLLATE "C"`
}

export async function readTargetWithSecret(sql: Queryable, code: string): Promise<TargetWithSecret | null> {
  const [row] = await sql<TargetWithSecret[]>`
    SELECT code, name, kind, url, path, mode, enabled, secret FROM targets WHERE code = ${code}`
  return row ?? null
}

export interface NewTarget extends Pick<Target, 'code' | 'kind' | 'url' | 'path' | 'mode'> {
  /** undefined keeps the name of a known target and takes the code for a new one */
  readonly name: string | undefined
  /** undefined keeps a known target as it is and enables a new one */
  readonly enabled: boolean | undefined
  /** undefined keeps the secret of a known target; null removes it */
  readonly secret: string | null | undefined
}

export async function upsertTarget(tx: Transaction, target: NewTarget): Promise<Target> {
  const { code, kind, url, path, mode, name, enabled, secret } = target
  const [row] = await tx<Target[]>`
    INSERT INTO targets (code, name, kind, url, path, mode, enabled, secret)
    VALUES (${code}, ${name ?? code}, ${kind}, ${url}, ${path}, ${mode}, ${enabled ?? true}, ${secret ?? null})
    ON CONFLICT (code) DO UPDATE SET
      name = coalesce(${name ?? null}, targets.name), kind = excluded.kind, url = excluded.url, path = excluded.path,
      mode = excluded.mode, enabled = coalesce(${enabled ?? null}, targets.enabled),
      secret = CASE WHEN ${secret === undefined} THEN targets.secret ELSE excluded.secret END, updated_at = now()
    RETURNING code, name, kind, url, path, mode, enabled, secret IS NOT NULL AS has_secret`
  return row as Target
}
