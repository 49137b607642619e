import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { claimSliceJob, returnSliceJob, SLICING_CHANNEL } from '@gateway/store/slice-jobs.js'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'
import { LEASE_SECONDS } from './job-watch.js'
import { runJob } from './run-job.js'

/** A job whose runner died is found at the latest this long after its lease has expired; a new one is announced. */
const LOOK_MS = 2000

/** Runs slice jobs, one at a time in the whole cluster: whichever control plane claims the oldest unfinished one. */
const runSlicing: BackgroundLoop = {
  name: 'slicing',
  async run(ctx) {
    const owner = randomUUID()
    const news = new EventEmitter()
    const listening = await listen(ctx, news)
    while (!ctx.shutdown.aborted) {
      const ran = await runNext(ctx, owner, news).catch((error) => {
        if (!ctx.shutdown.aborted) ctx.log.warn({ err: error }, 'slicing could not go on; trying again')
        return false
      })
      if (!ran) await newsOrTime(news, ctx.shutdown)
    }
    await listening?.()
  },
}

export const slicingLoops: readonly BackgroundLoop[] = [runSlicing]

async function runNext(ctx: ControlContext, owner: string, news: EventEmitter): Promise<boolean> {
  const claimed = await claimSliceJob(ctx.sql, owner, LEASE_SECONDS)
  if (claimed === null) return false
  const { job, lease } = claimed
  ctx.log.info({ job: job.id, layer: job.targetCode, sources: job.sourcePaths.length }, 'a slice job runs')
  const end = await runJob(ctx, job, lease, (listener) => {
    news.on('news', listener)
    return () => news.off('news', listener)
  })
  if (end === 'interrupted') await returnSliceJob(ctx.sql, lease)
  ctx.log.info({ job: job.id, end }, 'a slice job has ended here')
  return true
}

/** Without notifications the loop still looks every LOOK_MS. */
async function listen(ctx: ControlContext, news: EventEmitter): Promise<(() => Promise<void>) | null> {
  try {
    const { unlisten } = await ctx.sql.listen(SLICING_CHANNEL, () => news.emit('news'))
    return unlisten
  } catch (error) {
    ctx.log.warn({ err: error }, 'slicing hears no notifications; it looks for jobs by itself')
    return null
  }
}

function newsOrTime(news: EventEmitter, shutdown: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      news.off('news', done)
      shutdown.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, LOOK_MS)
    news.on('news', done)
    shutdown.addEventListener('abort', done)
  })
}
