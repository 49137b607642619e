import { randomUUID } from 'node:crypto'
import { claimSliceJob, SLICING_CHANNEL } from '@gateway/store/slice-jobs.js'
import { runWork } from '../jobs/runner.js'
import type { BackgroundLoop } from '../platform/background.js'
import { runJob } from './run-job.js'
import { LEASE, RunningJob } from './running-job.js'

/** A job whose runner died is found at the latest this long after its lease has expired; a new one is announced. */
const POLL_MS = 2000

/** Runs slice jobs, one at a time in the whole cluster: whichever control plane claims the oldest that has not ended. */
export const slicingLoop: BackgroundLoop = {
  name: 'slicing',
  async run(ctx) {
    const owner = randomUUID()
    let running: RunningJob | null = null
    const claim = async () => {
      const claimedAt = performance.now()
      const claimed = await claimSliceJob(ctx.sql, owner, LEASE.leaseSeconds)
      if (claimed === null) return false
      running = new RunningJob(ctx, claimed.lease, claimedAt)
      try {
        await runJob(ctx, claimed, running)
      } finally {
        running.close()
        running = null
      }
      return true
    }
    await runWork(ctx, {
      name: 'slice jobs',
      channel: SLICING_CHANNEL,
      claim,
      msToNext: async () => POLL_MS,
      // It may be the cancellation of the job that runs here.
      onAnnounced: () => void running?.renew(),
    })
  },
}
