import fs from 'node:fs/promises'
import path from 'node:path'
import { takeHostLock, tryHostLock } from '../files/host-lock.js'
import { OPENING_FAILURES } from '../object-storage/circuit.js'

/** A service that fails is asked by one request in this time. */
export const OPEN_MS = 10_000
/** Time in ms to wait while another process decides that its request is the one. */
const DECIDED_MS = 1_000
const LOOK_AGAIN_MS = 5
/** Time in ms for which a process that found the circuit closed does not look again, since a look costs a part of a request. */
const CLOSED_MS = 100
/** Longest pause that a service may ask for. */
export const LONGEST_PAUSE_MS = 60_000

/** A failure, as other processes repeat it. */
export interface SharedFailure {
  readonly kind: string
  readonly reason: string
  readonly words: string
}

interface Shared {
  readonly failures: number
  /** time of the calendar, in ms since 1970, since processes have no other clock in common */
  readonly openUntilMs: number
  /** time of the calendar until which the service wants no request (`Retry-After`) */
  readonly notBeforeMs: number
  readonly last: SharedFailure | null
}

const CLOSED: Shared = { failures: 0, openUntilMs: 0, notBeforeMs: 0, last: null }

/**
 * A circuit breaker that all processes of a host share as a file, so that a service that has failed five times in a row gets one request in ten seconds from the host, and not from
 * each process. The file is absent while the service answers, and is then looked for ten times a second. All methods reject with the errors of the disk.
 */
export class HostCircuit {
  readonly #directory: string
  readonly #file: string
  readonly #lock: string
  #known = CLOSED
  #lookedMs = Number.NEGATIVE_INFINITY

  /** @param directory is created if it does not exist */
  constructor(directory: string) {
    this.#directory = directory
    this.#file = path.join(directory, 'circuit.json')
    this.#lock = path.join(directory, 'circuit.lock')
  }

  /** the state when this process last looked */
  get isOpen(): boolean {
    return this.#known.failures >= OPENING_FAILURES
  }

  get failures(): number {
    return this.#known.failures
  }

  get last(): SharedFailure | null {
    return this.#known.last
  }

  /** Returns null if the caller may proceed; it then calls `succeeded` or `failed`, or neither if it gives up. Otherwise returns the milliseconds to wait. */
  async admit(): Promise<number | null> {
    if (this.#known === CLOSED && performance.now() < this.#lookedMs + CLOSED_MS) return null
    const seen = await this.#look()
    if (!this.isOpen || seen > 0) return seen || null
    const release = await tryHostLock(this.#lock)
    if (release === null) return DECIDED_MS
    try {
      const leftMs = await this.#look()
      // The time begins with the request, so that nobody waits longer if its process ends meanwhile.
      if (this.isOpen && leftMs === 0) await this.#write({ ...this.#known, openUntilMs: inTime() })
      return leftMs || null
    } finally {
      await release()
    }
  }

  async succeeded(): Promise<void> {
    if (this.#known.failures === 0) return
    await fs.rm(this.#file, { force: true })
    this.#known = CLOSED
  }

  /** @param pauseMs for how long the service wants no request, at most a minute */
  async failed(last: SharedFailure, pauseMs = 0): Promise<void> {
    await fs.mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const release = await takeHostLock(this.#lock, async () => false, LOOK_AGAIN_MS)
    try {
      const leftMs = await this.#look()
      const failures = this.#known.failures + 1
      // Requests that began before the circuit opened end while it is open. Their failures are not new information.
      const openUntilMs = leftMs > 0 ? this.#known.openUntilMs : failures < OPENING_FAILURES ? 0 : inTime()
      // biome-ignore lint/plugin: calendar, see `openUntilMs`
      const notBeforeMs = pauseMs > 0 ? Date.now() + pauseMs : this.#known.notBeforeMs
      await this.#write({ failures, openUntilMs, notBeforeMs, last })
    } finally {
      await release?.()
    }
  }

  /** Reads the file; returns the milliseconds for which the circuit is open. */
  async #look(): Promise<number> {
    const text = await fs.readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    this.#known = text === null ? CLOSED : (JSON.parse(text) as Shared)
    this.#lookedMs = performance.now()
    const { openUntilMs, notBeforeMs } = this.#known
    // biome-ignore lint/plugin: calendar, see `openUntilMs`
    const now = Date.now()
    // A clock that jumps back keeps the circuit open for its usual time at most.
    return Math.max(0, Math.min(OPEN_MS, openUntilMs - now), Math.min(LONGEST_PAUSE_MS, notBeforeMs - now))
  }

  /** Replaces the file, which other processes read at any time. */
  async #write(shared: Shared): Promise<void> {
    const next = `${this.#file}.${process.pid}`
    await fs.writeFile(next, JSON.stringify(shared), { mode: 0o600 })
    await fs.rename(next, this.#file)
    this.#known = shared
  }
}

function inTime(): number {
  // biome-ignore lint/plugin: calendar, see `openUntilMs`
  return Date.now() + OPEN_MS
}
