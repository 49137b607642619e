import type { Change, LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { PermitAnswer, PermitRequest } from '@gateway/contracts/rate-limit.js'
import type { Presence } from '@gateway/store/edge-presence.js'

/**
 * The message that the control plane publishes after a commit: the log has reached `revision`. It carries the changes if they are few, so that
 * an edge can drop cached entries even while it cannot reach the store. If they are omitted, the edge reads the log.
 */
export interface RevisionMessage {
  readonly revision: number
  readonly changes: readonly Change[]
  /** marks of the state after the changes and of the state before them; undefined in messages of the previous version */
  readonly mark?: string | undefined
  readonly previousMark?: string | undefined
}

export type OwnPresence = Omit<EdgePresence, 'seen_at'>

/** The edge processes that have applied a state, and those that may not have: they have not announced it yet, or are silent. */
export interface Acknowledgement {
  readonly confirmed: readonly EdgePresence[]
  readonly pending: readonly EdgePresence[]
}

/**
 * The fast path between control plane and edges. Correctness never depends on it: every edge process polls the change log as well.
 * All methods reject if the medium is out of reach. None of them retries.
 */
export interface Bus {
  readonly medium: 'redis' | 'postgres'

  /** True if the medium responded within the last two seconds. Always false on Postgres, where only polling proves freshness. */
  readonly connected: boolean

  /** Control plane: notifies all edges of committed changes. */
  publish(message: RevisionMessage): Promise<void>

  /**
   * Control plane: tells all edges the state that the store has now. Must be repeated every second. An edge that cannot read the store learns
   * only by this that it has missed no message. Does nothing on Postgres, where only polling proves freshness.
   */
  attest(state: LogState): Promise<void>

  /**
   * Edge: calls `onMessage` for every message, `onSubscribed` each time the subscription becomes active, and `onAttested` for every state that a
   * control plane attests. Earlier messages may be lost when a subscription becomes active, so the caller then reads the change log.
   */
  subscribe(
    onMessage: (message: RevisionMessage) => void,
    onSubscribed: () => void,
    onAttested?: (state: LogState) => void,
  ): Promise<void>

  /** Edge: announces that this process is alive, and its applied revision. Must be repeated every second. */
  announce(edge: OwnPresence): Promise<void>

  /** Edge: tells waiting processes which revision has just been applied. Only the next `announce` renews presence. */
  confirm(edge: OwnPresence): Promise<void>

  /** Control plane: starts to receive confirmations, so that the first wait misses none. */
  expectConfirmations(): Promise<void>

  /** Edge: announces that this process stops. */
  withdraw(id: string): Promise<void>

  /** Returns the edge processes that announced themselves within PRESENCE_SECONDS, and those that fell silent within `silentSeconds`. */
  presence(): Promise<Presence>

  /**
   * Waits until every live edge process has applied a state of the store, for at most `timeoutMs`. It does not wait for silent processes, which it
   * returns as pending.
   */
  awaitApplied(state: LogState, timeoutMs: number): Promise<Acknowledgement>

  /**
   * Takes permits from token buckets that all processes share. They fill by the medium's clock, so a process that asks late loses nothing.
   * Returns one answer for each request, in their order.
   */
  takePermits(requests: readonly PermitRequest[]): Promise<readonly PermitAnswer[]>

  close(): Promise<void>
}

export const ANNOUNCE_INTERVAL_MS = 1000
