import { setTimeout as sleep } from 'node:timers/promises'
import { moveSchedule, queueScan, readSchedules } from '@gateway/store/scan-sources.js'
import type { BackgroundLoop } from '../../../platform/background.js'
import type { ControlContext } from '../../../platform/context.js'
import { turnOf } from './next-run.js'

/** Maximum delay before a scan that is due is queued. */
const LOOK_EVERY_MS = 1000

/**
 * Queues the scans that are due. Every control plane looks, and the first one to move the time of a schedule queues its scan. The queue and the times
 * are in the store, so both survive restarts.
 */
export const schedules: BackgroundLoop = {
  name: 'schedules of scans',
  async run(ctx) {
    while (!ctx.shutdown.aborted) {
      await queueDue(ctx).catch((error: Error) =>
        ctx.log.debug({ err: error.message }, 'the schedules of scans cannot be read now'),
      )
      await sleep(LOOK_EVERY_MS, undefined, { signal: ctx.shutdown }).catch(() => {})
    }
  },
}

/** Queues the scans that are due now, and stores the time of the next scan of each schedule. */
export async function queueDue({ sql, now, log }: Pick<ControlContext, 'sql' | 'now' | 'log'>): Promise<void> {
  for (const { code, schedule, nextScanAt } of await readSchedules(sql)) {
    try {
      const { due, nextMs } = turnOf(schedule, nextScanAt?.getTime() ?? null, now())
      if (!due && nextMs === (nextScanAt?.getTime() ?? null)) continue
      await sql.begin(async (tx) => {
        const moved = await moveSchedule(tx, code, nextScanAt, nextMs === null ? null : new Date(nextMs))
        if (moved && due) await queueScan(tx, code, 'schedule')
      })
    } catch (error) {
      log.warn({ err: (error as Error).message, source: code }, 'the schedule of a scan source cannot be followed')
    }
  }
}
