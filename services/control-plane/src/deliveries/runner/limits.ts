import type { Lane } from '@gateway/store/deliveries.js'

export interface LaneLimit {
  /** at a time in this process */
  readonly total: number
  /** at a time to one destination, over all control planes */
  readonly perDestination: number
}

/**
 * A receiver that hangs holds its place for as long as patience lasts, and costs a socket. Messages: places for 256 destinations that hang
 * with all of their share. Transfers are few for each receiver, since they would only share its bandwidth, and hold their chunks in memory
 * (about 2 MB); those that wait for their receiver hold up neither the disk nor one another.
 */
export const LANE_LIMITS: Readonly<Record<Lane, LaneLimit>> = {
  message: { total: 1024, perDestination: 4 },
  transfer: { total: 256, perDestination: 1 },
}

/** Rows taken by one statement; more are taken by the next. */
export const CLAIM_BATCH = 128

/** After a crash, others wait this long; a process that stalls longer loses what it has under way. */
export const LEASE_SECONDS = 15
export const RENEW_MS = 4_000

/** An attempt is broken off this long before its lease can be taken over, where the store does not answer the renewals. */
export const LEASE_MARGIN_MS = 3_000

/** A notification may be lost with its connection: never sleep for longer. */
export const POLL_MS = 2_000

/** What just fell due while its destination has no room must not keep the store busy; far less than the second that waits are exact to. */
export const SOONEST_MS = 25

/** Before the next try, where the store does not answer. */
export const STORE_PAUSE_MS = 1_000
