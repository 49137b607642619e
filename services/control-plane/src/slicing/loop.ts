import { claimSliceJob, SLICING_CHANNEL } from '@gateway/store/slice-jobs.js'
import { runQueue } from '../jobs/run-queue.js'
import type { BackgroundLoop } from '../platform/background.js'
import { runJob } from './run-job.js'

/** Runs slice jobs, one at a time in the whole cluster: the control plane that claims the oldest unfinished job runs it. */
export const slicingLoop: BackgroundLoop = {
  name: 'slicing',
  run: (ctx) =>
    runQueue(ctx, {
      name: 'slice jobs',
      channel: SLICING_CHANNEL,
      claim: (owner, leaseSeconds) => claimSliceJob(ctx.sql, owner, leaseSeconds),
      run: (claimed, running) => runJob(ctx, claimed, running),
    }),
}
