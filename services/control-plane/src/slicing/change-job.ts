import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { Transaction } from '@gateway/store/connect.js'
import { acknowledgeSliceJob, cancelSliceJob, readSliceJob, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { enqueueCallback } from './callback.js'
import { NO_SUCH_JOB } from './routes.js'

const FINISHED = refuse('conflict', coded('slice_ended'))
const NO_FAILURE = refuse('conflict', coded('slice_not_failed'))

/** Changes one job within a transaction, with its audit entry. */
export type JobChange = (
  ctx: ControlContext,
  tx: Transaction,
  id: string,
  admin: AdminIdentity,
) => Promise<{ readonly ok: true; readonly job: StoredSliceJob } | Refusal>

export const cancelJob: JobChange = async (ctx, tx, id, admin) => {
  if (!isUuid(id)) return NO_SUCH_JOB
  const who = admin.actor === 'token' ? 'ADMIN_TOKEN' : admin.actor
  const at = new Date(ctx.now()).toISOString()
  const outcome = await cancelSliceJob(tx, id, coded('slice_cancelled_by', { actor: who, at }))
  if (outcome === 'unknown') return NO_SUCH_JOB
  if (outcome === 'finished') return FINISHED
  await insertAudit(tx, { ...admin, action: 'slice.cancel', subject: id, detail: named(outcome.job) })
  if (outcome.ended) await enqueueCallback(ctx, tx, outcome.job)
  return { ok: true, job: outcome.job }
}

export const acknowledgeJob: JobChange = async (_ctx, tx, id, admin) => {
  if (!isUuid(id)) return NO_SUCH_JOB
  const job = await acknowledgeSliceJob(tx, id)
  if (job === null) return (await readSliceJob(tx, id)) === null ? NO_SUCH_JOB : NO_FAILURE
  await insertAudit(tx, { ...admin, action: 'slice.acknowledge', subject: id, detail: named(job) })
  return { ok: true, job }
}

function named({ name, code, targetCode }: StoredSliceJob) {
  return { name, code, target_code: targetCode }
}
