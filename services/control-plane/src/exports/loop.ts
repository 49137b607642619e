import { claimExport, EXPORTS_CHANNEL } from '@gateway/store/exports.js'
import { runQueue } from '../jobs/run-queue.js'
import type { BackgroundLoop } from '../platform/background.js'
import { runExport } from './run-export.js'

/** Writes exports, one at a time in the whole cluster: the control plane that claims the oldest unfinished export writes it. */
export const exportLoop: BackgroundLoop = {
  name: 'exports',
  run: (ctx) =>
    runQueue(ctx, {
      name: 'exports',
      channel: EXPORTS_CHANNEL,
      claim: (owner, leaseSeconds) => claimExport(ctx.sql, owner, leaseSeconds),
      run: (claimed, running) => runExport(ctx, claimed, running),
    }),
}
