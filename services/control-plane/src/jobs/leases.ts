import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/core/logging/log.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'
import { STORE_PAUSE_MS } from './runner.js'

/** Reasons for aborting work under a lease: another process may hold the lease, or this one is stopping. */
export type LeaseEnd = 'lost' | 'stopped'

export interface LeaseTimes {
  /** duration that a claim and each renewal request from the store */
  readonly leaseSeconds: number
  readonly renewMs: number
}

/** The lease of a job (`running-job.ts`). Short intervals, because each renewal writes the progress, which users watch, and detects a cancellation. */
export const JOB_LEASE: LeaseTimes = { leaseSeconds: 12, renewMs: 1000 }

/**
 * The lease of a delivery, that is of a push or a callback (`deliveries/runner`). After a crash, others wait this long. A process that stalls longer loses
 * its deliveries in progress.
 */
export const DELIVERY_LEASE: LeaseTimes = { leaseSeconds: 15, renewMs: 4000 }

/** Time in ms before the expiry of a lease at which work is aborted if the store does not respond to renewals. */
const MARGIN_MS = 3000

interface Held<L> {
  readonly lease: L
  readonly controller: AbortController
  /** by `performance.now()` */
  validUntil: number
}

/** The leases that this process holds, renewed together. Work whose lease cannot be kept is aborted by its signal. */
export class LeaseKeeper<L extends { readonly id: string }> {
  readonly #leaseMs: number
  readonly #renewInStore: (leases: readonly L[]) => Promise<ReadonlySet<string>>
  readonly #held = new Map<string, Held<L>>()
  readonly #timer: NodeJS.Timeout
  #isRenewing = false

  /** @param renew returns the ids of leases that this process still holds; rejects if the store cannot be reached */
  constructor({ leaseSeconds, renewMs }: LeaseTimes, renew: (leases: readonly L[]) => Promise<ReadonlySet<string>>) {
    this.#leaseMs = leaseSeconds * 1000
    this.#renewInStore = renew
    this.#timer = setInterval(() => {
      // Skips a renewal while the store has not responded to the previous one.
      if (!this.#isRenewing) void this.renew()
    }, renewMs)
  }

  /** @param claimedAt time of the claim's request, by `performance.now()`: the lease lasts at least as long from then */
  hold(lease: L, claimedAt: number): AbortSignal {
    const controller = new AbortController()
    this.#held.set(lease.id, { lease, controller, validUntil: claimedAt + this.#leaseMs })
    return controller.signal
  }

  release(lease: L): void {
    this.#held.delete(lease.id)
  }

  /** Renews all leases now. Returns false if the store did not respond. */
  async renew(): Promise<boolean> {
    const held = [...this.#held.values()]
    if (held.length === 0) return true
    const sentAt = performance.now()
    this.#isRenewing = true
    const kept = await this.#renewInStore(held.map(({ lease }) => lease)).catch(() => null)
    this.#isRenewing = false
    for (const one of held) {
      if (kept?.has(one.lease.id)) one.validUntil = sentAt + this.#leaseMs
      // A lease that was released meanwhile is not lost.
      else if (kept !== null && this.#held.get(one.lease.id) === one) end(one, 'lost')
    }
    for (const one of this.#held.values()) {
      if (performance.now() > one.validUntil - MARGIN_MS) end(one, 'lost')
    }
    return kept !== null
  }

  /** Aborts all work: this process is stopping. */
  stopAll(): void {
    for (const one of this.#held.values()) end(one, 'stopped')
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

function end<L>({ controller }: Held<L>, why: LeaseEnd): void {
  controller.abort(why)
}

/**
 * Writes the outcome of work to the store, by a `write` that may be repeated. Retries while the store is out of reach and the lease is held: the
 * next holder repeats work without a recorded outcome.
 */
export async function recordEnd<T>(log: Log, lease: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (lease.aborted || storeTrouble(error)?.passes !== true) throw error
      log.warn({ err: (error as Error).message }, 'the outcome of a job or delivery waits for the store')
      await sleep(STORE_PAUSE_MS)
    }
  }
}
