import { randomUUID } from 'node:crypto'
import { claimExport, EXPORTS_CHANNEL, type ExportLease, renewExportLease } from '@gateway/store/exports.js'
import { LeaseKeeper, type LeaseTimes } from '../jobs/leases.js'
import { runWork } from '../jobs/runner.js'
import type { BackgroundLoop } from '../platform/background.js'
import { runExport } from './run-export.js'

/** An export whose runner died is found at the latest this long after its lease has expired; a new one is announced. */
const POLL_MS = 5000

/** Each renewal writes the progress too, which is watched: hence so often. */
const LEASE: LeaseTimes = { leaseSeconds: 12, renewMs: 2000 }

/** Writes exports, one at a time in the whole cluster: whichever control plane claims the oldest that has not ended. */
export const exportLoop: BackgroundLoop = {
  name: 'exports',
  async run(ctx) {
    const { sql, shutdown } = ctx
    const owner = randomUUID()
    const claim = async () => {
      const claimedAt = performance.now()
      const claimed = await claimExport(sql, owner, LEASE.leaseSeconds)
      if (claimed === null) return false
      let progress = 0
      const keeper = new LeaseKeeper<ExportLease>(LEASE, async () => {
        const kept = await renewExportLease(sql, claimed.lease, LEASE.leaseSeconds, progress)
        return new Set(kept ? [claimed.lease.id] : [])
      })
      const stop = () => keeper.stopAll()
      const held = keeper.hold(claimed.lease, claimedAt)
      shutdown.addEventListener('abort', stop)
      if (shutdown.aborted) stop()
      try {
        await runExport(ctx, claimed, held, (percent) => {
          progress = percent
        })
      } finally {
        shutdown.removeEventListener('abort', stop)
        keeper.close()
      }
      return true
    }
    await runWork(ctx, { name: 'exports', channel: EXPORTS_CHANNEL, claim, msToNext: async () => POLL_MS })
  },
}
