import { HelperEnded, HelperProcess } from '@gateway/core/processes/helper-process.js'
import type { CheckTask } from './check-process.js'
import type { FileState, Place } from './place.js'

/** The built file, even when the sources run (in tests). */
const CHECK_PROCESS = new URL('../../../dist/catalog/health/check-process.js', import.meta.url)

/** Maximum number of scan sources that are checked at the same time, each by a process. */
const SOURCES_AT_ONCE = 4

/**
 * Maximum time to check one file, so that neither a mount that hangs nor an archive crafted to never end blocks the check. A healthy network
 * mount responds in milliseconds, and after a fail-over in seconds.
 */
const FILE_LIMIT_MS = 5000

/**
 * Checks every place, and returns results in the order of the places. If neither a file nor its file system responds in time, the remaining places
 * of its scan source are `unknown` without further waiting, since they are on the same disk. Rejects when the signal aborts.
 */
export async function checkFiles(
  places: readonly Place[],
  signal: AbortSignal,
  limitMs = FILE_LIMIT_MS,
): Promise<FileState[]> {
  const states = places.map((): FileState => ({ presence: 'unknown', why: `no answer within ${limitMs / 1000} s` }))
  const bySource = new Map<string, [index: number, place: Place][]>()
  for (const [i, place] of places.entries()) {
    const same = bySource.get(place.root)
    if (same === undefined) bySource.set(place.root, [[i, place]])
    else same.push([i, place])
  }
  // One iterator, from which all lanes take their next source.
  const sources = bySource.values()
  const lane = async () => {
    const helper = new HelperProcess<CheckTask, FileState>(CHECK_PROCESS)
    try {
      for (const source of sources) {
        for (const [i, place] of source) {
          const state = await ask(helper, { ...place, what: 'content' }, limitMs, signal)
          if (state !== null) states[i] = state
          else if ((await ask(helper, { ...place, what: 'file system' }, limitMs, signal)) === null) break
        }
      }
    } finally {
      helper.end()
    }
  }
  await Promise.all(Array.from({ length: SOURCES_AT_ONCE }, lane))
  return states
}

/** Returns null if there is no result in time. */
async function ask(
  helper: HelperProcess<CheckTask, FileState>,
  task: CheckTask,
  limitMs: number,
  signal: AbortSignal,
): Promise<FileState | null> {
  try {
    return await helper.askWithin(task, limitMs, signal)
  } catch (error) {
    if (!(error instanceof HelperEnded)) throw error
    return { presence: 'unknown', why: 'the process that read it crashed' }
  }
}
