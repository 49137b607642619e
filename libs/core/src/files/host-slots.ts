import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, tryHostLock } from './host-lock.js'

/** Interval in ms at which a process looks for a free slot. */
const LOOK_AGAIN_MS = 10
/** Time in ms for which a process that has released a slot leaves it to others that wait, which then find it. */
const YIELD_MS = 3 * LOOK_AGAIN_MS
/** Time in ms for which a process keeps a slot that it does not use: to create and remove a file for each request costs more than the request. */
const KEPT_MS = 50
const WAITS = '.waits'

/**
 * Slots for work of which the processes of a host together do at most so much at once. Each slot is a lock, and a process that waits says so by a
 * file, so that a busy process does not take every slot that it has released again.
 */
export class HostSlots {
  readonly #directory: string
  readonly #slots: number
  readonly #mark: string
  #yieldUntilMs = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  /** slots of this process that no work uses */
  readonly #unused: (() => Promise<void>)[] = []
  #unusedTimer: NodeJS.Timeout | null = null
  #isDirectoryThere = false
  /** Slots are looked for by one piece of work at a time. */
  #turn: Promise<unknown> = Promise.resolve()

  /** @param directory is created if it does not exist */
  constructor(directory: string, slots: number) {
    this.#directory = directory
    this.#slots = slots
    this.#mark = path.join(directory, `${process.pid}${WAITS}`)
  }

  /** Resolves with the function that releases the slot; null if nobody wants it any more. Rejects with the errors of the disk. */
  enter(isWanted: () => boolean): Promise<(() => Promise<void>) | null> {
    const entered = this.#turn.then(() => this.#look(isWanted))
    this.#turn = entered.catch(() => {})
    return entered
  }

  async #look(isWanted: () => boolean): Promise<(() => Promise<void>) | null> {
    const unused = this.#unused.pop()
    if (unused !== undefined) return () => this.#release(unused)
    if (!this.#isDirectoryThere) await fs.mkdir(this.#directory, { recursive: true, mode: 0o700 })
    this.#isDirectoryThere = true
    let isMarked = false
    try {
      while (isWanted()) {
        const free = performance.now() < this.#yieldUntilMs ? null : await this.#free()
        if (free !== null) return () => this.#release(free)
        if (!isMarked) await fs.writeFile(this.#mark, '')
        isMarked = true
        await sleep(LOOK_AGAIN_MS)
      }
      return null
    } catch (error) {
      this.#isDirectoryThere = false
      throw error
    } finally {
      if (isMarked) await fs.rm(this.#mark, { force: true })
    }
  }

  async #free(): Promise<(() => Promise<void>) | null> {
    for (let slot = 0; slot < this.#slots; slot++) {
      const release = await tryHostLock(path.join(this.#directory, `${slot}.slot`))
      if (release !== null) return release
    }
    return null
  }

  async #release(release: () => Promise<void>): Promise<void> {
    if (await this.#isAwaited().catch(() => true)) return release()
    this.#unused.push(release)
    this.#unusedTimer ??= setTimeout(() => {
      this.#unusedTimer = null
      // A slot that cannot be removed is free when this process has ended.
      for (const unused of this.#unused.splice(0)) unused().catch(() => {})
    }, KEPT_MS).unref()
  }

  /** True if another process waits for a slot. This one then leaves the next ones to it. Looks no more often than those who wait do. */
  async #isAwaited(): Promise<boolean> {
    const now = performance.now()
    if (now < Math.max(this.#yieldUntilMs, this.#lookedMs + LOOK_AGAIN_MS)) return now < this.#yieldUntilMs
    this.#lookedMs = now
    let isAwaited = false
    for (const name of await fs.readdir(this.#directory)) {
      const pid = name.endsWith(WAITS) ? Number(name.slice(0, -WAITS.length)) : process.pid
      if (pid === process.pid) continue
      if (isAlive(pid)) isAwaited = true
      else await fs.rm(path.join(this.#directory, name), { force: true })
    }
    if (isAwaited) this.#yieldUntilMs = performance.now() + YIELD_MS
    return isAwaited
  }
}
