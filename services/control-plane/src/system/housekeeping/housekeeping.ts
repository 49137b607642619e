import { setTimeout as sleep } from 'node:timers/promises'
import { trustSeconds } from '@gateway/core/settings/load.js'
import { AUDIT_DAYS, pruneAudit } from '@gateway/store/audit-chain.js'
import { pruneChangeLog } from '@gateway/store/change-log.js'
import { pruneDeliveries } from '@gateway/store/delivery-retention.js'
import { prunePresence } from '@gateway/store/edge-presence.js'
import type { ExclusiveJob } from '@gateway/store/jobs.js'
import { pruneSeeds } from '@gateway/store/seeds.js'
import { pruneSliceJobs } from '@gateway/store/slice-job-retention.js'
import { forgetTokenAddresses } from '@gateway/store/tokens.js'
import { addUsageMonths } from '@gateway/store/usage-months.js'
import { packUsage, pruneUsage, rollUpUsage } from '@gateway/store/usage-retention.js'
import { exclusively } from '../../jobs/exclusively.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'

/** Interval of pruning. Pruned data is kept for days, so an hour more or less does not matter. */
const EVERY_MS = 3_600_000

/** The job of the one control plane that prunes the store. */
export const HOUSEKEEPING: ExclusiveJob = { kind: 'housekeeping', code: '' }

/** Pruning functions, by their names in the log. */
export type Pruners = Readonly<Record<string, (ctx: ControlContext) => Promise<unknown>>>

const STORE: Pruners = {
  'the change log': ({ sql }) => pruneChangeLog(sql),
  'edges that have ended': ({ sql, settings }) => prunePresence(sql, trustSeconds(settings)),
  'old push records': ({ sql }) => pruneDeliveries(sql),
  'old slice jobs': ({ sql, settings }) => pruneSliceJobs(sql, settings.jobRetentionDays),
  'old seeds': ({ sql, settings }) => pruneSeeds(sql, settings.jobRetentionDays),
  'the audit': ({ sql }) => pruneAudit(sql, AUDIT_DAYS),
  'the addresses of tokens': async ({ sql, settings }) => {
    if (!settings.tokenAddresses) await forgetTokenAddresses(sql)
  },
  'months of usage': ({ sql }) => addUsageMonths(sql, new Date()),
  'usage by the hour': ({ sql }) => rollUpUsage(sql),
  'months of old usage': ({ sql }) => packUsage(sql),
  'old usage': ({ sql, settings }) => pruneUsage(sql, settings.usageDays),
}

/** @param ownDisk prunes files on this machine's disk whose records are gone */
export function housekeeping(ownDisk: Pruners): BackgroundLoop {
  return {
    name: 'housekeeping',
    async run(ctx) {
      while (!ctx.shutdown.aborted) {
        await prune(ctx, ownDisk)
        await sleep(EVERY_MS, undefined, { signal: ctx.shutdown }).catch(() => {})
      }
    },
  }
}

/** Prunes the store, unless another control plane does so now, and then the disk. */
export async function prune(ctx: ControlContext, ownDisk: Pruners): Promise<void> {
  await exclusively(ctx, HOUSEKEEPING, async () => runAll(ctx, STORE)).catch((error) => warn(ctx, 'the store', error))
  await runAll(ctx, ownDisk)
}

async function runAll(ctx: ControlContext, pruners: Pruners): Promise<void> {
  for (const [what, pruner] of Object.entries(pruners)) {
    await pruner(ctx).catch((error: Error) => warn(ctx, what, error))
  }
}

function warn({ shutdown, log }: ControlContext, what: string, error: Error): null {
  if (!shutdown.aborted) log.warn({ what, err: error.message }, 'pruning failed; it is retried in an hour')
  return null
}
