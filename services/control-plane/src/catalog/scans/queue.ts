import { setTimeout as sleep } from 'node:timers/promises'
import {
  failAbandonedScans,
  isScanQueued,
  queueScan,
  readScanSources,
  takeQueuedScan,
} from '@gateway/store/scan-sources.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { MAX_CHANGED } from './automatic/settling.js'
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

/**
 * Returns the changes that were collected while the scan waited; null for too many, because scanning them would take as long as scanning everything.
 */
function wanted(changed: readonly string[] | null): readonly string[] | null {
  return changed === null || changed.length > MAX_CHANGED ? null : changed
}

/** Returns false if no scan waits, or if another scan is running. */
async function runNext(ctx: ControlContext): Promise<boolean> {
  if (!(await isScanQueued(ctx.sql))) return false
  const ran = await withScanLock(ctx, async (scanning) => {
    await failAbandonedScans(ctx.sql)
    const queued = await takeQueuedScan(ctx.sql)
    const [source] = queued === null ? [] : await readScanSources(ctx.sql, queued.code)
    if (queued === null || !source?.enabled) return queued !== null
    const { reason, changed } = queued
    const scan = await scanUnderLock(ctx, source, scanning, reason, wanted(changed))
    // A change is reported only once: if a scan of changes fails, everything is scanned next.
    if (scan.status === 'failed' && scan.changed !== null && !scan.cancelled)
      await queueScan(ctx.sql, source.code, reason)
    return true
  })
  return ran === true
}
