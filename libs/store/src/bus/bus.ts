import type { Change, LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { PermitAnswer, PermitRequest } from '@gateway/contracts/rate-limit.js'
import type { Presence } from '@gateway/store/edge-presence.js'

/**
 * What the control plane publishes after a commit: the log has grown to `revision`. The message carries the changes where they are few, so
 * that an edge can drop what it holds even while it cannot reach the store; where they are left out, it reads the log.
 */
export interface RevisionMessage {
  readonly revision: number
  readonly changes: readonly Change[]
  /** of the state that the changes lead to, and of the one that they start from; undefined from a program of the previous version */
  readonly mark?: string | undefined
  readonly previousMark?: string | undefined
}

export type OwnPresence = Omit<EdgePresence, 'seen_at'>

/** Which edge processes have applied a state, and which may not have: they have not announced it yet, or are silent. */
export interface Acknowledgement {
  readonly confirmed: readonly EdgePresence[]
  readonly pending: readonly EdgePresence[]
}

/**
 * The accelerator between control plane and edges. Nothing relies on it alone: every edge process polls the change log as well.
 * All methods reject where the medium is out of reach; none of them retries.
 */
export interface Bus {
  readonly medium: 'redis' | 'postgres'

  /** Whether the medium answered within the last two seconds. On Postgres always false: there, only polling proves freshness. */
  readonly connected: boolean

  /** Control plane: notifies all edges of committed changes. */
  publish(message: RevisionMessage): Promise<void>

  /**
   * Edge: calls `onMessage` for every message, and `onSubscribed` each time the subscription is (again) active: earlier messages may be
   * lost, so read the change log then.
   */
  subscribe(onMessage: (message: RevisionMessage) => void, onSubscribed: () => void): Promise<void>

  /** Edge: announces that this process is alive and which revision it has applied. To be repeated every second. */
  announce(edge: OwnPresence): Promise<void>

  /** Edge: tells those who wait which revision has just been applied. Presence is renewed by the next `announce` only. */
  confirm(edge: OwnPresence): Promise<void>

  /** Control plane: from now on confirmations are received, so that the first wait misses none. */
  expectConfirmations(): Promise<void>

  /** Edge: this process is stopping. */
  withdraw(id: string): Promise<void>

  /** The edge processes that announced themselves within PRESENCE_SECONDS, and those that fell silent since `silentSeconds` ago. */
  presence(): Promise<Presence>

  /**
   * Waits until every live edge process has applied what the store holds in this state, for at most `timeoutMs`. Those that are silent are
   * not waited for; they are named as pending.
   */
  awaitApplied(state: LogState, timeoutMs: number): Promise<Acknowledgement>

  /**
   * Takes permits out of token buckets that all processes share, which fill by the medium's clock; a process that asks late loses nothing. One
   * answer for each request, in their order.
   */
  takePermits(requests: readonly PermitRequest[]): Promise<readonly PermitAnswer[]>

  close(): Promise<void>
}

export const ANNOUNCE_INTERVAL_MS = 1000
