import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/core/logging/log.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'
import { STORE_PAUSE_MS } from './runner.js'

/** Why work under a lease is aborted: another process may hold the lease by now, or this one is stopping. */
export type LeaseEnd = 'lost' | 'stopped'

export interface LeaseTimes {
  /** what a claim and each renewal ask the store for */
  readonly leaseSeconds: number
  readonly renewMs: number
}

/** Work is aborted this long before its lease can be taken over, where the store does not answer the renewals. */
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

  /** @param renew answers the ids of those that are still this process's; rejects where the store cannot be reached */
  constructor({ leaseSeconds, renewMs }: LeaseTimes, renew: (leases: readonly L[]) => Promise<ReadonlySet<string>>) {
    this.#leaseMs = leaseSeconds * 1000
    this.#renewInStore = renew
    this.#timer = setInterval(() => {
      // A store that is slow is not asked again meanwhile.
      if (!this.#isRenewing) void this.renew()
    }, renewMs)
  }

  /** @param claimedAt when the claim was sent, by `performance.now()`: the lease lasts at least as long from then */
  hold(lease: L, claimedAt: number): AbortSignal {
    const controller = new AbortController()
    this.#held.set(lease.id, { lease, controller, validUntil: claimedAt + this.#leaseMs })
    return controller.signal
  }

  release(lease: L): void {
    this.#held.delete(lease.id)
  }

  /** Renews all leases now. false: the store did not answer. */
  async renew(): Promise<boolean> {
    const held = [...this.#held.values()]
    if (held.length === 0) return true
    const sentAt = performance.now()
    this.#isRenewing = true
    const kept = await this.#renewInStore(held.map(({ lease }) => lease)).catch(() => null)
    this.#isRenewing = false
    for (const one of held) {
      if (kept?.has(one.lease.id)) one.validUntil = sentAt + this.#leaseMs
      // One that was released meanwhile is not lost.
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
 * Writes what work came to into the store, by a `write` that may be repeated. Where the store is out of reach it is tried again for as long
 * as the lease is held: what cannot be recorded is done again by the next holder.
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
