import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Queryable } from './connect.js'

/** Renews the presence of an edge process; the database's clock is the one that counts. */
export async function upsertPresence(sql: Queryable, edge: Omit<EdgePresence, 'seen_at'>): Promise<void> {
  await sql`
    INSERT INTO edge_presence (id, host, pid, version, started_at, applied_revision)
    VALUES (${edge.id}, ${edge.host}, ${edge.pid}, ${edge.version}, ${edge.started_at}, ${edge.applied_revision})
    ON CONFLICT (id) DO UPDATE SET seen_at = now(), applied_revision = excluded.applied_revision`
}

export async function deletePresence(sql: Queryable, id: string): Promise<void> {
  await sql`DELETE FROM edge_presence WHERE id = ${id}`
}

/** The edge processes that were seen within `seconds`; forgets those that have been silent for a day. */
export async function readPresence(sql: Queryable, seconds: number): Promise<EdgePresence[]> {
  await sql`DELETE FROM edge_presence WHERE seen_at < now() - interval '1 day'`
  const rows = await sql<(Omit<EdgePresence, 'started_at' | 'seen_at'> & { started_at: Date; seen_at: Date })[]>`
    SELECT id, host, pid, version, started_at, seen_at, applied_revision FROM edge_presence
    WHERE seen_at > now() - make_interval(secs => ${seconds}) ORDER BY host, pid`
  return rows.map((row) => ({
    ...row,
    started_at: row.started_at.toISOString(),
    seen_at: row.seen_at.toISOString(),
  }))
}
