import { Piscina } from 'piscina'
import type { Place, Presence } from './look-worker.js'

/** The built worker, from the sources (in tests) as from the build. */
const WORKER = new URL('../../dist/health/look-worker.js', import.meta.url).href

/** Limit: scan sources that are looked at at the same time, each in a thread. */
const SOURCES_AT_ONCE = 4

/** A path on a mount that hangs must not hang the check. A sound network mount answers in milliseconds, after a fail-over in seconds. */
const PATH_TIMEOUT_MS = 5000

/**
 * Looks at every place, in threads, and answers in the places' order. Once one place of a scan source has not answered in time, the
 * others of that source are `unknown` without another wait: they are on the same disk.
 */
export async function lookAtAll(places: readonly Place[]): Promise<Presence[]> {
  const presence: Presence[] = places.map(() => 'unknown')
  const pool = new Piscina<Place, Presence>({ filename: WORKER, minThreads: 0, maxThreads: SOURCES_AT_ONCE })
  const bySource = indicesBySource(places)
  const lanes = Array.from({ length: SOURCES_AT_ONCE }, async () => {
    for (const indices of bySource) {
      for (const i of indices) {
        const seen = await inTime(pool, places[i] as Place)
        if (seen === null) break
        presence[i] = seen
      }
    }
  })
  try {
    await Promise.all(lanes)
  } finally {
    // Not waited for: a thread that hangs in a system call ends when that returns.
    pool.destroy().catch(() => {})
  }
  return presence
}

/** One iterator, which all lanes draw from. */
function indicesBySource(places: readonly Place[]): IterableIterator<number[]> {
  const bySource = new Map<string, number[]>()
  for (const [i, place] of places.entries()) {
    const same = bySource.get(place.root)
    if (same === undefined) bySource.set(place.root, [i])
    else same.push(i)
  }
  return bySource.values()
}

/** null: no answer in time. */
async function inTime(pool: Piscina<Place, Presence>, place: Place): Promise<Presence | null> {
  const timeout = AbortSignal.timeout(PATH_TIMEOUT_MS)
  try {
    return await pool.run(place, { signal: timeout })
  } catch (error) {
    if (timeout.aborted) return null
    throw error
  }
}
