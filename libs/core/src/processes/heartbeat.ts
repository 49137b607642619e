/** How often a process reports that its event loop turns. */
export const BEAT_MS = 500
const LOOK_MS = 500
/** With one beat before and one look after it, what stands still is found within 5 seconds. */
const SILENT_MS = 4_000
/** Before its first beat a process reads its code, which takes its time on a busy machine. */
const FIRST_BEAT_WITHIN_MS = 60_000
/** A check this late means that the watcher or the whole machine stood still: the count starts anew. */
const LATE_MS = 500

let lastBeatAt: number | null = null

/** Tells the process that started this one, over their channel, that the event loop turns; nothing where there is no channel. */
export function beat(): void {
  tell()
  setInterval(tell, BEAT_MS).unref()
}

/**
 * Beats where that is due, in a process that beats. To be called by what may go on for seconds before timers run: libuv takes up to 48 times
 * 1,024 ready sockets in one turn of its loop.
 */
export function beatInBetween(): void {
  if (lastBeatAt !== null && performance.now() - lastBeatAt >= BEAT_MS) tell()
}

function tell(): void {
  lastBeatAt = performance.now()
  if (process.connected) process.send?.(BEAT, undefined, undefined, () => {})
}

const BEAT = { kind: 'beat' } as const
export type Beat = typeof BEAT

/**
 * Watches the beats of one process, by the monotonic clock. What the process waits for a processor is not counted as silence: where a hundred
 * of them start at once, as after the reboot of a machine, each is silent for longer than that, and killing them makes more that start.
 */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout
  readonly #waitedMs: () => number
  #lastLook = performance.now()
  #lastWaited: number
  #since = performance.now()
  #limit = FIRST_BEAT_WITHIN_MS

  /**
   * @param onSilent called when the process has been silent for too long: it does not turn its event loop
   * @param waitedMs how long its event loop's thread has waited for a processor since it began (run-queue.ts)
   */
  constructor(onSilent: () => void, waitedMs: () => number) {
    this.#waitedMs = waitedMs
    this.#lastWaited = waitedMs()
    this.#timer = setInterval(() => this.#look(onSilent), LOOK_MS)
    this.#timer.unref()
  }

  heard(): void {
    this.#since = performance.now()
    this.#limit = SILENT_MS
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(onSilent: () => void): void {
    const now = performance.now()
    if (now - this.#lastLook > LOOK_MS + LATE_MS) this.#since = now
    this.#lastLook = now
    const waited = this.#waitedMs()
    // Not into the future: what it waited before its last beat is no credit for later.
    this.#since = Math.min(now, this.#since + Math.max(0, waited - this.#lastWaited))
    this.#lastWaited = waited
    if (now - this.#since <= this.#limit) return
    this.#limit = Number.POSITIVE_INFINITY
    onSilent()
  }
}
