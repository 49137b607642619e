import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Queryable } from './connect.js'
import { isoDates } from './sql.js'

/** Renews the presence of an edge process, by the clock of the database. */
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

/** Seconds after which an edge process counts as silent: it has missed three announcements of one second each. */
export const PRESENCE_SECONDS = 3.5

/** The live edge processes, and those that fell silent without a regular stop. */
export interface Presence {
  readonly live: readonly EdgePresence[]
  readonly silent: readonly EdgePresence[]
}

/** @param silentSeconds maximum age of the last announcement of a silent process */
export async function readPresence(sql: Queryable, silentSeconds: number): Promise<Presence> {
  const rows = await sql<PresenceRow[]>`
    SELECT id, host, pid, version, started_at, seen_at, applied_revision, applied_mark, traffic,
           seen_at > now() - make_interval(secs => ${PRESENCE_SECONDS}) AS live
    FROM edge_presence
    WHERE seen_at > now() - make_interval(secs => ${Math.max(silentSeconds, PRESENCE_SECONDS)}) ORDER BY host, pid`
  const those = (live: boolean) => rows.filter((row) => row.live === live).map(toPresence)
  return { live: those(true), silent: those(false) }
}

/** Deletes processes that have been silent for a day longer than any reader asks for. */
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
