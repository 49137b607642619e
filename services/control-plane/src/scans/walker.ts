import { Piscina } from 'piscina'
import type { Found, WalkAnswer, WalkTask } from './walk-worker.js'

/** The built worker, from the sources (in tests) as from the build. */
const WORKER = new URL('../../dist/scans/walk-worker.js', import.meta.url).href

/**
 * A walk that gets nowhere for so long hangs on a disk that does not answer, and would keep the whole cluster from scanning. Looking into
 * one tile tree of many thousand columns over a slow network is the longest step.
 */
const STALLED_MS = 10 * 60 * 1000
const LOOK_AT_PULSE_MS = 10_000

/** A walk that failed, in words for the operator. */
export class WalkError extends Error {
  override readonly name = 'WalkError'
}

/**
 * Walks a source in a thread of its own with synchronous calls: neither a million names nor a disk that hangs holds up requests, since
 * the event loop's own threads for files are not used. Rejects with WalkError, or with the signal's reason once it is aborted.
 */
export async function walkInThread(
  what: { readonly kind: 'basemap' } | Pick<Extract<WalkTask, { kind: 'vector' }>, 'kind' | 'known'>,
  root: string,
  signal: AbortSignal,
): Promise<Found> {
  const pool = new Piscina<WalkTask, WalkAnswer>({ filename: WORKER, minThreads: 1, maxThreads: 1 })
  const pulse = new SharedArrayBuffer(4)
  const stall = new AbortController()
  const watch = watchPulse(new Int32Array(pulse), stall)
  const stop = AbortSignal.any([signal, stall.signal])
  try {
    const answer = await pool.run({ ...what, root, pulse }, { signal: stop })
    if (!answer.ok) throw new WalkError(inWords(answer, root))
    return answer
  } catch (error) {
    stop.throwIfAborted()
    throw error
  } finally {
    clearInterval(watch)
    // Not waited for: a thread that hangs in a system call ends when that returns.
    pool.destroy().catch(() => {})
  }
}

function watchPulse(pulse: Int32Array, stall: AbortController): NodeJS.Timeout {
  let before = -1
  let since = performance.now()
  return setInterval(() => {
    const now = Atomics.load(pulse, 0)
    if (now !== before) [before, since] = [now, performance.now()]
    else if (performance.now() - since > STALLED_MS) {
      stall.abort(new WalkError(`the directory has not answered for ${STALLED_MS / 60_000} minutes`))
    }
  }, LOOK_AT_PULSE_MS).unref()
}

/** The path is the one that the operator configured. */
function inWords({ code, message }: Extract<WalkAnswer, { ok: false }>, root: string): string {
  if (code === 'ENOENT') return `${root} is not there: nothing was changed`
  if (code === 'EACCES' || code === 'EPERM') return `permission denied: ${message}`
  return message
}
