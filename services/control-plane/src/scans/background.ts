import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'
import { runScan } from './run.js'
import { sourcesFromSettings } from './sources-from-settings.js'

const LOCK_RETRY_MS = 500
const TROUBLE_RETRY_MS = 5000

/** At start: the configured directories become scan sources, and are scanned while requests are answered already. */
const scanConfiguredSources: BackgroundLoop = {
  name: 'start-up scans',
  async run(ctx) {
    const sources = await persistently(ctx, () => sourcesFromSettings(ctx.sql, ctx.settings))
    for (const source of sources ?? []) await persistently(ctx, () => scanWhenFree(ctx, source))
    ctx.firstScans.end()
  },
}

export const scanLoops: readonly BackgroundLoop[] = [scanConfiguredSources]

/** Another scan, of this process or another, is waited for. */
async function scanWhenFree(ctx: ControlContext, source: ScanSource): Promise<void> {
  if (!source.enabled) return
  while (!ctx.shutdown.aborted) {
    if ((await runScan(ctx, source)).ok) return
    await pause(ctx, LOCK_RETRY_MS)
  }
}

/** The store may be away just now: tries again until it works or the process ends. */
async function persistently<T>(ctx: ControlContext, work: () => Promise<T>): Promise<T | undefined> {
  while (!ctx.shutdown.aborted) {
    try {
      return await work()
    } catch (error) {
      ctx.log.warn({ err: error }, 'the start-up scans could not go on; trying again')
      await pause(ctx, TROUBLE_RETRY_MS)
    }
  }
  return undefined
}

async function pause(ctx: ControlContext, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: ctx.shutdown }).catch(() => {})
}
