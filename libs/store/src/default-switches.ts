import type { Queryable, Transaction } from './connect.js'

/** The counts of a version's answers by all edges during a canary. */
export interface CanaryCounts {
  readonly requests: number
  /** 404s of tiles */
  readonly missing: number
  /** 5xx */
  readonly failed: number
}

export type SwitchStatus = 'pending' | 'canary' | 'done' | 'failed' | 'cancelled' | 'rolled_back'

/** A share of the tokens that has the new version for some minutes first. */
export interface CanaryPlan {
  readonly percent: number
  readonly minutes: number
}

/** A switch of a default version at a time, or step by step. */
export interface StoredSwitch {
  readonly id: string
  readonly basemapCode: string
  readonly version: string
  readonly at: Date
  readonly actor: string
  readonly address: string
  readonly status: SwitchStatus
  readonly canary: CanaryPlan | null
  /** when the canary has begun */
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  /** the default when the canary has begun */
  readonly beforeVersion: string | null
  readonly before: CanaryCounts
  readonly after: CanaryCounts
  readonly createdAt: Date
}

export type NewSwitch = Pick<StoredSwitch, 'basemapCode' | 'version' | 'at' | 'actor' | 'address' | 'canary'>

/** null: one has not ended yet. */
export async function insertSwitch(tx: Transaction, one: NewSwitch): Promise<StoredSwitch | null> {
  const [row] = await tx<StoredSwitch[]>`
    INSERT INTO default_switches (basemap_code, version, at, actor, address, percent, minutes)
    VALUES (${one.basemapCode}, ${one.version}, ${one.at}, ${one.actor}, ${one.address},
            ${one.canary?.percent ?? null}, ${one.canary?.minutes ?? null})
    ON CONFLICT (basemap_code) WHERE status IN ('pending', 'canary') DO NOTHING
    RETURNING ${columns(tx)}`
  return row ?? null
}

/** The switch that has not ended. */
export async function readPendingSwitch(sql: Queryable, basemapCode: string): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE basemap_code = ${basemapCode} AND status IN ('pending', 'canary')`
  return row ?? null
}

/** The newest switches of a basemap, newest first. */
export async function readSwitches(sql: Queryable, basemapCode: string, limit: number): Promise<StoredSwitch[]> {
  return await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE basemap_code = ${basemapCode} ORDER BY created_at DESC, id LIMIT ${limit}`
}

/** The pending switch whose time comes first; null: there is none. */
export async function readNextSwitch(sql: Queryable): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE status = 'pending' ORDER BY at, id LIMIT 1`
  return row ?? null
}

export async function readCanaries(sql: Queryable): Promise<StoredSwitch[]> {
  return await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE status = 'canary' ORDER BY started_at, id`
}

/** false: it has ended, or begun, meanwhile. */
export async function startCanary(tx: Transaction, id: string, beforeVersion: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE default_switches SET status = 'canary', started_at = clock_timestamp(), before_version = ${beforeVersion}
    WHERE id = ${id} AND status = 'pending'`
  return count > 0
}

/** false: it had ended before. */
export async function endSwitch(
  tx: Transaction,
  id: string,
  status: Exclude<SwitchStatus, 'pending' | 'canary'>,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE default_switches SET status = ${status}, ended_at = clock_timestamp()
    WHERE id = ${id} AND status IN ('pending', 'canary')`
  return count > 0
}

function columns(sql: Queryable) {
  const counts = (side: string) =>
    sql.unsafe(
      `json_build_object('requests', ${side}_requests, 'missing', ${side}_missing, 'failed', ${side}_failed) AS ${side}`,
    )
  return sql`id, basemap_code AS "basemapCode", version, at, actor, address, status, started_at AS "startedAt", ended_at AS "endedAt",
    before_version AS "beforeVersion", created_at AS "createdAt", ${counts('before')}, ${counts('after')},
    CASE WHEN percent IS NOT NULL THEN json_build_object('percent', percent, 'minutes', minutes) END AS canary`
}
