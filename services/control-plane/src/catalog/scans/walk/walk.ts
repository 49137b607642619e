import { CodedError, type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { HelperProcess } from '@gateway/core/processes/helper-process.js'
import type { Found, WalkAnswer, WalkTask } from './walk-process.js'

/** The built file, even when the sources run (in tests). */
const WALK_PROCESS = new URL('../../../../dist/catalog/scans/walk/walk-process.js', import.meta.url)

/**
 * Maximum time without progress. A longer walk hangs on a disk that does not respond, and would block the scans of the whole cluster. The
 * longest step is the listing of one tile tree of many thousand columns over a slow network.
 */
const STALLED_MS = 10 * 60 * 1000

/** A failed walk. The message is for the operator. */
export class WalkError extends CodedError {
  override readonly name = 'WalkError'
}

interface WalkOptions {
  readonly stalledMs?: number
  /** called at most once a second with the number of listed folders and read files */
  readonly onProgress?: (steps: number) => void
}

/**
 * Walks a source in a child process, so that neither a million names nor a disk that hangs delays requests or the shutdown. Rejects with
 * WalkError, or with the signal's reason when it aborts.
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

/** Formats an error with the path that the operator configured. */
function describe({ code, said }: Extract<WalkAnswer, { ok: false }>, root: string): CodedMessage {
  if (code === 'ENOENT') return coded('scan_root_missing', { path: root })
  if (code === 'EACCES' || code === 'EPERM')
    return coded('scan_permission', { words: said.params.words ?? textOf(said) })
  return said
}
