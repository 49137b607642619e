import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Queryable } from './connect.js'
import { isoDates } from './iso-dates.js'

/** Renews the presence of an edge process; the database's clock is the one that counts. */
export async function upsertPresence(sql: Queryable, edge: Omit<EdgePresence, 'seen_at'>): Promise<void> {
  await sql`
    INSERT INTO edge_presence (id, host, pid, version, started_at, applied_revision, applied_mark, traffic)
    VALUES (${edge.id}, ${edge.host}, ${edge.pid}, ${edge.version}, ${edge.started_at}, ${edge.applied_revision},
            ${edge.applied_mark ?? null}, ${edge.traffic === undefined ? null : sql.json(edge.traffic)})
    ON CONFLICT (id) DO UPDATE SET 
      seen_at = now(), applied_revision = excluded.applied_revision, applied_mark = excluded.applied_mark, traffic = excluded.traffic`
}

export async function deletePresence(sql: Queryable, id: string): Promise<void> {
  await sql`DELETE FROM edge_presence WHERE id = ${id}`
}

/** An edge process is taken for silent once it has missed three announcements of one second each. */
export const PRESENCE_SECONDS = 3.5

/** The edge processes that live, and those that fell silent without having been stopped in order. */
export interface Presence {
  readonly live: readonly EdgePresence[]
  readonly silent: readonly EdgePresence[]
}

/** `silentSeconds`: how long ago a silent one may have been seen. */
export async function readPresence(sql: Queryable, silentSeconds: number): Promise<Presence> {
  const rows = await sql<PresenceRow[]>`
    SELECT id, host, pid, version, started_at, seen_at, applied_revision, applied_mark, traffic,
           seen_at > now() - make_interval(secs => ${PRESENCE_SECONDS}) AS live
    FROM edge_presence
    WHERE seen_at > now() - make_interval(secs => ${Math.max(silentSeconds, PRESENCE_SECONDS)}) ORDER BY host, pid`
  const those = (live: boolean) => rows.filter((row) => row.live === live).map(toPresence)
  return { live: those(true), silent: those(false) }
}

/** Forgets those that have been silent for a day longer than anyone asks for. */
export async function prunePresence(sql: Queryable, silentSeconds: number): Promise<void> {
  await sql`DELETE FROM edge_presence WHERE seen_at < now() - interval '1 day' - make_interval(secs => ${silentSeconds})`
}

type PresenceRow = { readonly [K in keyof EdgePresence]: unknown } & {
  readonly live: boolean
}

function toPresence({ traffic, applied_mark, live: _, ...row }: PresenceRow): EdgePresence {
  const known = {
    ...(applied_mark !== null && { applied_mark }),
    ...(traffic !== null && { traffic }),
  }
  return isoDates<EdgePresence>({ ...row, ...known })
}
