import { claimSeed, SEEDS_CHANNEL, type SeedEnd } from '@gateway/store/seeds.js'
import { runQueue } from '../jobs/run-queue.js'
import type { BackgroundLoop } from '../platform/background.js'
import { runSeed } from './run-seed.js'

/** Runs seeds, one at a time in the whole cluster: the control plane that claims the oldest unfinished one runs it. Seam: the queue knows no service. */
export const seedLoop: BackgroundLoop = {
  name: 'seeds',
  run: (ctx) =>
    runQueue<Awaited<ReturnType<typeof claimSeed>> & object, SeedEnd>(ctx, {
      name: 'seeds',
      channel: SEEDS_CHANNEL,
      claim: (owner, leaseSeconds) => claimSeed(ctx.sql, owner, leaseSeconds),
      run: (claimed, running) => runSeed(ctx, claimed, running),
    }),
}
