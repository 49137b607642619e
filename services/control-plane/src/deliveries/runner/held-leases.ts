import type { Sql } from '@gateway/store/connect.js'
import { type Lease, renewLeases } from '@gateway/store/delivery-leases.js'
import { LEASE_MARGIN_MS, LEASE_SECONDS, RENEW_MS } from './limits.js'

/** `lost`: somebody else may be at it by now. `stopped`: this process is ending and gives it back. */
export type Ending = 'lost' | 'stopped'

interface Held {
  readonly lease: Lease
  readonly controller: AbortController
  /** on the monotonic clock of this process, milliseconds */
  validUntil: number
}

/** The leases that this process holds, renewed together. An attempt whose lease cannot be kept is broken off by its signal. */
export class HeldLeases {
  readonly #sql: Sql
  readonly #owner: string
  readonly #held = new Map<string, Held>()
  readonly #timer: NodeJS.Timeout

  constructor(sql: Sql, owner: string) {
    this.#sql = sql
    this.#owner = owner
    this.#timer = setInterval(() => void this.#renew(), RENEW_MS)
  }

  /** `claimedAt`: when the claim was sent, by `performance.now()`: the lease is at least as long from then. */
  hold(lease: Lease, claimedAt: number): AbortSignal {
    const controller = new AbortController()
    this.#held.set(lease.id, { lease, controller, validUntil: claimedAt + LEASE_SECONDS * 1000 })
    return controller.signal
  }

  letGo(lease: Lease): void {
    this.#held.delete(lease.id)
  }

  stopAll(): void {
    for (const { controller } of this.#held.values()) controller.abort('stopped' satisfies Ending)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const held = [...this.#held.values()]
    if (held.length === 0) return
    const sentAt = performance.now()
    try {
      const leases = held.map(({ lease }) => lease)
      const kept = await renewLeases(this.#sql, this.#owner, leases, LEASE_SECONDS)
      for (const one of held) {
        if (kept.has(one.lease.id)) one.validUntil = sentAt + LEASE_SECONDS * 1000
        // One that was settled meanwhile is nobody's any more.
        else if (this.#held.get(one.lease.id) === one) this.#lose(one)
      }
    } catch {
      // The store is out of reach; the next turn tries again.
    }
    for (const one of this.#held.values()) {
      if (performance.now() > one.validUntil - LEASE_MARGIN_MS) this.#lose(one)
    }
  }

  #lose({ controller }: Held): void {
    controller.abort('lost' satisfies Ending)
  }
}
