import type { Change } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'

/**
 * What the control plane tells the edges after a commit: the log has grown to `revision`. The changes themselves ride along where they
 * are few, so that an edge can drop what it holds even while it cannot reach the store; where they are left out, it reads the log.
 */
export interface RevisionMessage {
  readonly revision: number
  readonly changes: readonly Change[]
}

export type OwnPresence = Omit<EdgePresence, 'seen_at'>

/** Which of the live edge processes have applied a revision, and which have not said so yet. */
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

  /** Control plane: tells all edges of committed changes. */
  publish(message: RevisionMessage): Promise<void>

  /**
   * Edge: calls `onMessage` for every message, and `onSubscribed` each time the subscription stands (again): what was said before that
   * moment may be lost, so read the change log then.
   */
  subscribe(onMessage: (message: RevisionMessage) => void, onSubscribed: () => void): Promise<void>

  /** Edge: says that this process lives and which revision it has applied. To be repeated every second, and at once after applying. */
  announce(edge: OwnPresence): Promise<void>

  /** Edge: this process is going. */
  withdraw(id: string): Promise<void>

  /** The edge processes that announced themselves within PRESENCE_SECONDS. */
  edges(): Promise<readonly EdgePresence[]>

  /** Waits until every live edge process has applied the revision, for at most `timeoutMs`. */
  awaitApplied(revision: number, timeoutMs: number): Promise<Acknowledgement>

  close(): Promise<void>
}

/** An edge process that has been silent for longer is taken for dead: three missed announcements. */
export const PRESENCE_SECONDS = 3.5
export const ANNOUNCE_INTERVAL_MS = 1000
