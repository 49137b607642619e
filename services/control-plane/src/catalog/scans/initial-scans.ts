import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { setTileBaseUrl } from '@gateway/store/basemaps.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish } from '../../platform/edges/commit.js'
import { sourcesFromSettings } from '../sources/configured-sources.js'
import { runScan } from './run.js'

const LOCK_RETRY_MS = 500
const TROUBLE_RETRY_MS = 5000

/**
 * Turns the configured directories into scan sources at the start, and scans them. Requests are served meanwhile. First it gives every basemap the
 * current public URL: a scan would do so only for those of its source.
 */
export const initialScans: BackgroundLoop = {
  name: 'initial scans',
  async run(ctx) {
    await persistently(ctx, () => moveBasemaps(ctx))
    const sources = await persistently(ctx, () => sourcesFromSettings(ctx.sql, ctx.settings))
    for (const source of sources ?? []) await persistently(ctx, () => scanWhenFree(ctx, source))
    ctx.readiness.finish()
  },
}

export function moveBasemaps(ctx: Pick<ControlContext, 'sql' | 'bus' | 'log' | 'settings'>) {
  return commitAndPublish(ctx, async (tx) => {
    const codes = await setTileBaseUrl(tx, ctx.settings.tilePublicBaseUrl)
    return { result: codes, changes: codes.map((key) => ({ kind: 'basemap', key })) }
  })
}

/** Waits for the end of another scan, of this process or another, and then scans. */
async function scanWhenFree(ctx: ControlContext, source: ScanSource): Promise<void> {
  if (!source.enabled) return
  while (!ctx.shutdown.aborted) {
    if ((await runScan(ctx, source, 'start')).ok) return
    await pause(ctx, LOCK_RETRY_MS)
  }
}

/** Retries until it succeeds or the process ends, since the store may be out of reach. */
async function persistently<T>(ctx: ControlContext, work: () => Promise<T>): Promise<T | undefined> {
  while (!ctx.shutdown.aborted) {
    try {
      return await work()
    } catch (error) {
      ctx.log.warn({ err: error }, 'the initial scans failed; trying again')
      await pause(ctx, TROUBLE_RETRY_MS)
    }
  }
  return undefined
}

async function pause(ctx: ControlContext, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: ctx.shutdown }).catch(() => {})
}
