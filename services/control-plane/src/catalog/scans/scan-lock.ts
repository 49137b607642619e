import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { ExclusiveJob } from '@gateway/store/jobs.js'
import { exclusively } from '../../jobs/exclusively.js'
import type { RunningJob } from '../../jobs/running-job.js'
import type { ControlContext } from '../../platform/context.js'

/** Only one scan runs at a time in the whole cluster. */
export const SCAN: ExclusiveJob = { kind: 'scan', code: '' }

/** Runs `work` while no scan runs in the whole cluster. Refused during a scan. */
export async function withScanLock<T>(
  ctx: Pick<ControlContext, 'sql' | 'shutdown'>,
  work: (scanning: RunningJob) => Promise<T>,
): Promise<T | Refusal> {
  const done = await exclusively(ctx, SCAN, async (scanning) => ({ result: await work(scanning) }))
  return done === null ? refuse('scan_running', coded('scan_already_running')) : done.result
}
