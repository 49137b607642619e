import { HelperProcess } from '../scans/helper/process.js'
import type { Place, Presence } from './place.js'

/** The built file, from the sources (in tests) as from the build. */
const LOOK_PROCESS = new URL('../../dist/health/look-process.js', import.meta.url)

type Helper = HelperProcess<readonly Place[], Presence[]>

/** Limit: scan sources that are looked at at the same time, each by a process. */
const SOURCES_AT_ONCE = 4

/** A path on a mount that hangs must not hang the check. A sound network mount answers in milliseconds, after a fail-over in seconds. */
const PATH_TIMEOUT_MS = 5000

/** Places in one message; what one of them hangs on, all of them go without an answer for. */
const PLACES_AT_ONCE = 100

/**
 * Looks at every place, and answers in the places' order. Once one place of a scan source has not answered in time, the others of that
 * source are `unknown` without another wait: they are on the same disk. Rejects once the signal is aborted.
 */
export async function lookAtAll(
  places: readonly Place[],
  signal: AbortSignal,
  timeoutMs = PATH_TIMEOUT_MS,
): Promise<Presence[]> {
  const presence = places.map((): Presence => 'unknown')
  const sources = indicesBySource(places)
  const helpers = Array.from({ length: SOURCES_AT_ONCE }, (): Helper => new HelperProcess(LOOK_PROCESS))
  const end = () => {
    for (const helper of helpers) helper.end()
  }
  signal.addEventListener('abort', end)
  const lane = async (helper: Helper) => {
    for (const indices of sources) {
      for (let start = 0; start < indices.length; start += PLACES_AT_ONCE) {
        const some = indices.slice(start, start + PLACES_AT_ONCE)
        const asked = some.map((i) => places[i] as Place)
        const seen = await inTime(helper, asked, timeoutMs)
        if (seen === null) break
        for (const [n, i] of some.entries()) presence[i] = seen[n] ?? 'unknown'
      }
    }
  }
  try {
    await Promise.all(helpers.map(lane))
    signal.throwIfAborted()
    return presence
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
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

/** null: no answer in time. Each sign of life begins the time anew. */
async function inTime(
  helper: Helper,
  places: readonly Place[],
  timeoutMs: number,
): Promise<readonly Presence[] | null> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeoutMs)
  try {
    return await helper.ask(places, stop.signal, () => timer.refresh())
  } catch (error) {
    if (stop.signal.aborted) return null
    throw error
  } finally {
    clearTimeout(timer)
  }
}
