import type { Queryable, Transaction } from './connect.js'

/** A switch of a default version that is to happen at a time. */
export interface StoredSwitch {
  readonly id: string
  readonly basemapCode: string
  readonly version: string
  readonly at: Date
  readonly actor: string
  readonly address: string
  readonly createdAt: Date
}

export type NewSwitch = Pick<StoredSwitch, 'basemapCode' | 'version' | 'at' | 'actor' | 'address'>

/** null: one is pending already. */
export async function insertSwitch(tx: Transaction, one: NewSwitch): Promise<StoredSwitch | null> {
  const [row] = await tx<StoredSwitch[]>`
    INSERT INTO default_switches (basemap_code, version, at, actor, address)
    VALUES (${one.basemapCode}, ${one.version}, ${one.at}, ${one.actor}, ${one.address})
    ON CONFLICT (basemap_code) WHERE status = 'pending' DO NOTHING
    RETURNING ${columns(tx)}`
  return row ?? null
}

export async function readPendingSwitch(sql: Queryable, basemapCode: string): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE basemap_code = ${basemapCode} AND status = 'pending'`
  return row ?? null
}

/** The pending switch whose time comes first; null: there is none. */
export async function readNextSwitch(sql: Queryable): Promise<StoredSwitch | null> {
  const [row] = await sql<StoredSwitch[]>`
    SELECT ${columns(sql)} FROM default_switches WHERE status = 'pending' ORDER BY at, id LIMIT 1`
  return row ?? null
}

/** false: it is pending no more. */
export async function endSwitch(
  tx: Transaction,
  id: string,
  status: 'done' | 'failed' | 'cancelled',
): Promise<boolean> {
  const { count } = await tx`UPDATE default_switches SET status = ${status} WHERE id = ${id} AND status = 'pending'`
  return count > 0
}

function columns(sql: Queryable) {
  return sql`id, basemap_code AS "basemapCode", version, at, actor, address, created_at AS "createdAt"`
}
