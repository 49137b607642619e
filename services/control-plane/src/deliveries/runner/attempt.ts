import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/logging/log.js'
import type { Sql } from '@gateway/store/connect.js'
import {
  type AttemptLine,
  type ClaimedDelivery,
  releaseDelivery,
  settleDelivery,
} from '@gateway/store/delivery-leases.js'
import { failure, type Outcome } from '../outcome.js'
import { nextStep } from '../retry-policy.js'
import { STORE_PAUSE_MS } from './limits.js'

export interface AttemptTools {
  readonly sql: Sql
  readonly log: Log
  readonly owner: string
  readonly now: () => number
  /** RETRY_WAITS */
  readonly waitsSeconds: readonly number[]
  readonly deliver: (claimed: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome>
  /** told of each attempt that came to an end */
  readonly ended: (claimed: ClaimedDelivery, outcome: Outcome) => void
}

/** Makes one attempt under a lease and writes down what it came to. Never throws. */
export async function attempt(tools: AttemptTools, claimed: ClaimedDelivery, signal: AbortSignal): Promise<void> {
  const startedAt = tools.now()
  const outcome = await tools.deliver(claimed, signal).catch((error: Error) => unplanned(tools, claimed, error, signal))
  const line: AttemptLine = {
    startedAt: new Date(startedAt),
    durationMs: Math.max(0, tools.now() - startedAt),
    outcome: outcome.delivered ? 'succeeded' : 'failed',
    httpStatus: outcome.httpStatus,
    message: outcome.message,
    answer: outcome.answer,
  }
  // What was broken off says nothing about the receiver; what had arrived by then has arrived.
  if (signal.aborted && !outcome.delivered) return giveBack(tools, claimed, line, signal)
  await settle(tools, claimed, outcome, line, signal)
}

function unplanned(tools: AttemptTools, claimed: ClaimedDelivery, error: Error, signal: AbortSignal): Outcome {
  // Reading files is full of plain errors (ENOSPC, EACCES, a changed file): they are the attempt's, and the operator reads them there.
  if (!signal.aborted) tools.log.debug({ delivery: claimed.id, err: error }, 'an attempt threw')
  return failure(error.message)
}

async function settle(
  tools: AttemptTools,
  claimed: ClaimedDelivery,
  outcome: Outcome,
  line: AttemptLine,
  signal: AbortSignal,
): Promise<void> {
  const step = nextStep(outcome, claimed.attempts + 1, tools.waitsSeconds, tools.now())
  for (;;) {
    try {
      const settled = await settleDelivery(tools.sql, tools.owner, claimed, step, line)
      if (settled) report(tools, claimed, outcome, step.status)
      return
    } catch (error) {
      tools.log.warn(
        { delivery: claimed.id, err: (error as Error).message },
        'the end of an attempt waits for the store',
      )
      // Once the lease has run out another process does it again: what cannot be written down cannot be known to have happened.
      if (signal.aborted) return
      await sleep(STORE_PAUSE_MS)
    }
  }
}

function report(tools: AttemptTools, claimed: ClaimedDelivery, outcome: Outcome, status: string): void {
  tools.ended(claimed, outcome)
  const fields = {
    delivery: claimed.id,
    kind: claimed.kind,
    destination: claimed.destination,
    attempt: claimed.attempts + 1,
    status,
  }
  if (outcome.delivered) tools.log.debug(fields, 'delivered')
  else tools.log.info({ ...fields, reason: outcome.message }, 'not delivered')
}

/** A lease that was lost cannot be given back; the statement finds nothing then. */
async function giveBack(tools: AttemptTools, claimed: ClaimedDelivery, line: AttemptLine, signal: AbortSignal) {
  const message = signal.reason === 'stopped' ? 'the control plane stopped' : 'the lease could not be kept'
  await releaseDelivery(tools.sql, tools.owner, claimed, { ...line, outcome: 'interrupted', message }).catch(
    (error) => {
      tools.log.warn(
        { delivery: claimed.id, err: error.message },
        'a delivery is taken up again once its lease has run out',
      )
    },
  )
}
