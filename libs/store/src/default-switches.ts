import type { Queryable, Transaction } from './connect.js'

/** Counts of a version's responses by all edges during a canary. */
export interface CanaryCounts {
  readonly requests: number
  /** number of 404s for tiles */
  readonly missing: number
  /** number of 5xx */
  readonly failed: number
}

export type SwitchStatus = 'pending' | 'canary' | 'done' | 'failed' | 'cancelled' | 'rolled_back'

/** The first step of a switch: a share of the tokens gets the new version for some minutes. */
export interface CanaryPlan {
  readonly percent: number
  readonly minutes: number
}

/** A switch of a default version, at a set time or in steps. */
export interface StoredSwitch {
  readonly id: string
  readonly basemapCode: string
  readonly version: string
  readonly at: Date
  readonly actor: string
  readonly address: string
  readonly status: SwitchStatus
  readonly canary: CanaryPlan | null
  /** start of the canary */
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  /** default version at the start of the canary */
  readonly beforeVersion: string | null
  readonly before: CanaryCounts
  readonly after: CanaryCounts
  readonly createdAt: Date
}

export type NewSwitch = Pick<StoredSwitch, 'basemapCode' | 'version' | 'at' | 'actor' | 'address' | 'canary'>

/** Returns null if another switch has not ended yet. */
export async function insertSwitch(tx: Transaction, one: NewSwitch): Promise<StoredSwitch | null> {
  const [row] = await tx<StoredSwitch[]>`
    INSERT INTO default_switches (basemap_code, version, at, actor, address, percent, minutes)
    VALUES (${one.basemapCode}, ${one.version}, ${one.at}, ${one.actor}, ${one.address},
            ${one.canary?.percent ?? null}, ${one.canary?.minutes ?? null})
    ON CONFLICT (basemap_code) WHERE status IN ('pending', 'canary') DO NOTHING
    RETURNING ${columns(tx)}`
  return row ?? null
}

/** Returns the switch that has not ended, or null. */
export async function readPendingSwitch(sql: Queryable, basemapCode: string): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE basemap_code = ${basemapCode} AND status IN ('pending', 'canary')`
  return row ?? null
}

/** Returns the newest switches of a basemap, newest first. */
export async function readSwitches(sql: Queryable, basemapCode: string, limit: number): Promise<StoredSwitch[]> {
  return await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE basemap_code = ${basemapCode} ORDER BY created_at DESC, id LIMIT ${limit}`
}

/** Returns the pending switch with the earliest time, or null. */
export async function readNextSwitch(sql: Queryable): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE status = 'pending' ORDER BY at, id LIMIT 1`
  return row ?? null
}

export async function readCanaries(sql: Queryable): Promise<StoredSwitch[]> {
  return await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE status = 'canary' ORDER BY started_at, id`
}

/** Returns false if the switch has ended or begun meanwhile. */
export async function startCanary(tx: Transaction, id: string, beforeVersion: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE default_switches SET status = 'canary', started_at = clock_timestamp(), before_version = ${beforeVersion}
    WHERE id = ${id} AND status = 'pending'`
  return count > 0
}

/** Returns false if the switch has already ended. */
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
