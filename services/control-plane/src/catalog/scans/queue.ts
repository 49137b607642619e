import { setTimeout as sleep } from 'node:timers/promises'
import { failAbandonedScans, isScanQueued, readScanSources, takeQueuedScan } from '@gateway/store/scan-sources.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { scanUnderLock } from './run.js'
import { withScanLock } from './scan-lock.js'

/** Interval at which a control plane looks for a waiting scan, and for the end of the running one. */
const LOOK_EVERY_MS = 1000

/**
 * Runs the waiting scans one after the other, in the order of the queue. Any control plane may take the next one. If a control plane dies, its scan
 * has failed, and is not repeated automatically, since the scan may be the cause of the death.
 */
export const scanQueue: BackgroundLoop = {
  name: 'scan queue',
  async run(ctx) {
    while (!ctx.shutdown.aborted) {
      const ran = await runNext(ctx).catch((error) => {
        ctx.log.debug({ err: (error as Error).message }, 'the scan queue cannot be read now')
        return false
      })
      if (!ran) await sleep(LOOK_EVERY_MS, undefined, { signal: ctx.shutdown }).catch(() => {})
    }
  },
}

/** Returns false if no scan waits, or another one is running. */
async function runNext(ctx: ControlContext): Promise<boolean> {
  if (!(await isScanQueued(ctx.sql))) return false
  const ran = await withScanLock(ctx, async (scanning) => {
    await failAbandonedScans(ctx.sql)
    const queued = await takeQueuedScan(ctx.sql)
    const [source] = queued === null ? [] : await readScanSources(ctx.sql, queued.code)
    if (queued !== null && source?.enabled) await scanUnderLock(ctx, source, scanning, queued.reason)
    return queued !== null
  })
  return ran === true
}
