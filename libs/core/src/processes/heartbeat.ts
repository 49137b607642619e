import { readFileSync } from 'node:fs'

/** Interval at which a process reports that its event loop turns. */
export const BEAT_MS = 500
const LOOK_MS = 500
/** With one beat before and one check after it, a stalled process is found within 5 seconds. */
const SILENT_MS = 4_000
/** Before its first beat a process loads its code, which takes long on a busy machine. */
const FIRST_BEAT_WITHIN_MS = 60_000
/** A check that is this late means that the watcher or the whole machine stood still, so the count restarts. */
const LATE_MS = 500

let lastBeatAt: number | null = null

/** Reports to the parent process, over their channel, that the event loop turns. Does nothing without a channel. */
export function beat(): void {
  tell()
  setInterval(tell, BEAT_MS).unref()
}

/**
 * Sends a beat if one is due. Must be called by work that may run for seconds before timers fire: libuv handles up to 48 times
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
 * Watches the beats of one process by the monotonic clock. Time that the process waits for a processor does not count as silence. After a
 * reboot a hundred processes start at once and are silent for longer than the limit; killing them would only cause more starts.
 */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout
  readonly #waitedMs: () => number
  #lastLook = performance.now()
  #lastWaited: number
  #since = performance.now()
  #limit = FIRST_BEAT_WITHIN_MS

  /**
   * @param onSilent called when the process has been silent for too long, because its event loop does not turn
   * @param waitedMs returns the total time that its event loop's thread has waited for a processor (run-queue.ts)
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
    // Capped at now: time waited before the last beat gives no credit for later.
    this.#since = Math.min(now, this.#since + Math.max(0, waited - this.#lastWaited))
    this.#lastWaited = waited
    if (now - this.#since <= this.#limit) return
    this.#limit = Number.POSITIVE_INFINITY
    onSilent()
  }
}

/**
 * Returns the total milliseconds that the first thread of a process (in Node: its event loop) was ready to run and had no processor: the second
 * figure of Linux's /proc/PID/schedstat. A process that is stopped, sleeps or runs does not wait. Returns 0 if the kernel does not report it, or
 * the process has ended.
 */
export function runQueueWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6 || 0
  } catch {
    return 0
  }
}
