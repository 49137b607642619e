import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { TrafficCounters } from '@gateway/contracts/traffic.js'
import type { Queryable } from './connect.js'

/** Renews the presence of an edge process; the database's clock is the one that counts. */
export async function upsertPresence(sql: Queryable, edge: Omit<EdgePresence, 'seen_at'>): Promise<void> {
  await sql`
    INSERT INTO edge_presence (id, host, pid, version, started_at, applied_revision, traffic)
    VALUES (${edge.id}, ${edge.host}, ${edge.pid}, ${edge.version}, ${edge.started_at}, ${edge.applied_revision},
            ${edge.traffic === undefined ? null : sql.json(edge.traffic)})
    ON CONFLICT (id) DO UPDATE SET seen_at = now(), applied_revision = excluded.applied_revision, traffic = excluded.traffic`
}

export async function deletePresence(sql: Queryable, id: string): Promise<void> {
  await sql`DELETE FROM edge_presence WHERE id = ${id}`
}

/** The edge processes that were seen within `seconds`; forgets those that have been silent for a day. */
export async function readPresence(sql: Queryable, seconds: number): Promise<EdgePresence[]> {
  await sql`DELETE FROM edge_presence WHERE seen_at < now() - interval '1 day'`
  const rows = await sql<PresenceRow[]>`
    SELECT id, host, pid, version, started_at, seen_at, applied_revision, traffic FROM edge_presence
    WHERE seen_at > now() - make_interval(secs => ${seconds}) ORDER BY host, pid`
  return rows.map(({ traffic, ...row }) => ({
    ...row,
    ...(traffic !== null && { traffic }),
    started_at: row.started_at.toISOString(),
    seen_at: row.seen_at.toISOString(),
  }))
}

type PresenceRow = Omit<EdgePresence, 'started_at' | 'seen_at' | 'traffic'> & {
  started_at: Date
  seen_at: Date
  traffic: TrafficCounters | null
}
