import { CodedError, type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { HelperProcess } from '../../../platform/helper-process/helper-process.js'
import type { Found, WalkAnswer, WalkTask } from './walk-process.js'

/** The built file, also when the sources are run (in tests). */
const WALK_PROCESS = new URL('../../../../dist/catalog/scans/walk/walk-process.js', import.meta.url)

/**
 * Limit: a walk without progress for so long hangs on a disk that does not answer, and would block the scans of the whole cluster. The
 * longest step is the listing of one tile tree of many thousand columns over a slow network.
 */
const STALLED_MS = 10 * 60 * 1000

/** A walk that failed; the message is for the operator. */
export class WalkError extends CodedError {
  override readonly name = 'WalkError'
}

interface WalkOptions {
  readonly stalledMs?: number
  /** folders listed and files read so far; at most once a second */
  readonly onProgress?: (steps: number) => void
}

/**
 * Walks a source in a child process, so that neither a million names nor a disk that hangs delays requests or the shutdown. Rejects with
 * WalkError, or with the signal's reason once it is aborted.
 */
export async function walk(
  task: WalkTask,
  signal: AbortSignal,
  { stalledMs = STALLED_MS, onProgress = () => {} }: WalkOptions = {},
): Promise<Found> {
  const helper = new HelperProcess<WalkTask, WalkAnswer>(WALK_PROCESS)
  const stall = new AbortController()
  const giveUp = () => stall.abort(new WalkError(coded('scan_stalled', { path: task.root, seconds: stalledMs / 1000 })))
  const timer = setTimeout(giveUp, stalledMs)
  try {
    const answer = await helper.ask(task, AbortSignal.any([signal, stall.signal]), (steps) => {
      timer.refresh()
      onProgress(steps)
    })
    if (!answer.ok) throw new WalkError(describe(answer, task.root))
    return answer
  } finally {
    clearTimeout(timer)
    helper.end()
  }
}

/** The path is the one that the operator configured. */
function describe({ code, said }: Extract<WalkAnswer, { ok: false }>, root: string): CodedMessage {
  if (code === 'ENOENT') return coded('scan_root_missing', { path: root })
  if (code === 'EACCES' || code === 'EPERM')
    return coded('scan_permission', { words: said.params.words ?? textOf(said) })
  return said
}
