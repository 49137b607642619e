import { coded, messageOfError } from '@gateway/contracts/messages.js'
import type { Log } from '@gateway/core/logging/log.js'
import type { Sql } from '@gateway/store/connect.js'
import {
  type AttemptLine,
  type ClaimedDelivery,
  releaseDelivery,
  settleDelivery,
} from '@gateway/store/delivery-leases.js'
import { recordEnd } from '../../jobs/leases.js'
import { failure, type Outcome } from '../outcome.js'
import { nextStep } from '../retry-policy.js'

export interface AttemptTools {
  readonly sql: Sql
  readonly log: Log
  readonly owner: string
  readonly now: () => number
  /** RETRY_WAITS */
  readonly waitsSeconds: readonly number[]
  readonly deliver: (claimed: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome>
  /** called after each recorded attempt */
  readonly ended: (claimed: ClaimedDelivery, outcome: Outcome, seconds: number) => void
}

/** Makes one attempt under a lease and records its outcome. Never throws. */
export async function attempt(tools: AttemptTools, claimed: ClaimedDelivery, lease: AbortSignal): Promise<Outcome> {
  const startedAt = new Date(tools.now())
  const begunAt = performance.now()
  // Reading files throws plain errors (ENOSPC, EACCES, a changed file). They belong to the attempt, where operators read them.
  const outcome = await tools.deliver(claimed, lease).catch((error: unknown) => failure(messageOfError(error)))
  const { delivered, httpStatus, said, answer, request } = outcome
  const durationMs = performance.now() - begunAt
  const line: AttemptLine = {
    startedAt,
    durationMs,
    outcome: delivered ? 'succeeded' : 'failed',
    httpStatus,
    said,
    answer,
    request,
  }
  try {
    // An aborted attempt says nothing about the receiver. If it had already succeeded, it counts.
    if (lease.aborted && !delivered) await giveBack(tools, claimed, line, lease)
    else await settle(tools, claimed, outcome, line, lease)
  } catch (error) {
    tools.log.warn(
      { delivery: claimed.id, err: (error as Error).message },
      'an attempt could not be recorded; the delivery is tried again once its lease has expired',
    )
  }
  return outcome
}

async function settle(
  tools: AttemptTools,
  claimed: ClaimedDelivery,
  outcome: Outcome,
  line: AttemptLine,
  lease: AbortSignal,
): Promise<void> {
  const { sql, log, owner } = tools
  const attempt = claimed.attempts + 1
  const step = nextStep(outcome, attempt, tools.waitsSeconds, tools.now())
  if (!(await recordEnd(log, lease, () => settleDelivery(sql, owner, claimed, step, line)))) return
  tools.ended(claimed, outcome, line.durationMs / 1000)
  const { id, kind, destination } = claimed
  const fields = { delivery: id, kind, destination, attempt, status: step.status }
  if (outcome.delivered) log.debug(fields, 'delivered')
  else log.info({ ...fields, reason: outcome.message }, 'not delivered')
}

/** A lost lease cannot be released; the statement then matches no row. */
function giveBack({ sql, owner }: AttemptTools, claimed: ClaimedDelivery, line: AttemptLine, lease: AbortSignal) {
  const said = coded(lease.reason === 'stopped' ? 'delivery_interrupted_stopped' : 'delivery_interrupted_lease')
  return releaseDelivery(sql, owner, claimed, { ...line, outcome: 'interrupted', said })
}
