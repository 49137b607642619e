import { HelperProcess } from './helper/process.js'
import type { Found, WalkAnswer, WalkTask } from './walk-process.js'

/** The built file, from the sources (in tests) as from the build. */
const WALK_PROCESS = new URL('../../dist/scans/walk-process.js', import.meta.url)

/**
 * A walk that gets nowhere for so long hangs on a disk that does not answer, and would keep the whole cluster from scanning. Looking into
 * one tile tree of many thousand columns over a slow network is the longest step.
 */
const STALLED_MS = 10 * 60 * 1000

/** A walk that failed, in words for the operator. */
export class WalkError extends Error {
  override readonly name = 'WalkError'
}

/**
 * Walks a source in a process of its own: neither a million names nor a disk that hangs holds up requests or the shutdown. Rejects with
 * WalkError, or with the signal's reason once it is aborted.
 */
export async function walk(task: WalkTask, signal: AbortSignal, stalledMs = STALLED_MS): Promise<Found> {
  const helper = new HelperProcess<WalkTask, WalkAnswer>(WALK_PROCESS)
  const stall = new AbortController()
  const giveUp = () => stall.abort(new WalkError(`${task.root} does not answer: no progress for ${stalledMs / 1000} s`))
  const timer = setTimeout(giveUp, stalledMs)
  try {
    const answer = await helper.ask(task, AbortSignal.any([signal, stall.signal]), () => timer.refresh())
    if (!answer.ok) throw new WalkError(inWords(answer, task.root))
    return answer
  } finally {
    clearTimeout(timer)
    helper.end()
  }
}

/** The path is the one that the operator configured. */
function inWords({ code, message }: Extract<WalkAnswer, { ok: false }>, root: string): string {
  if (code === 'ENOENT') return `${root} is not there: nothing was changed`
  if (code === 'EACCES' || code === 'EPERM') return `permission denied: ${message}`
  return message
}
