import type { ControlContext } from './context.js'

/**
 * Work that a feature does besides answering requests: a runner, a schedule. `run` is called once, after the process listens, and its
 * promise ends soon after `ctx.shutdown` is aborted, with nothing of the feature still under way. It handles its own failures: a
 * rejection is a programming error and ends the process.
 */
export interface BackgroundLoop {
  readonly name: string
  run(ctx: ControlContext): Promise<void>
}

/** Starts all loops; answers a promise that ends when every one of them has ended, and rejects with the first error. */
export async function runLoops(loops: readonly BackgroundLoop[], ctx: ControlContext): Promise<void> {
  await Promise.all(
    loops.map(async (loop) => {
      try {
        await loop.run(ctx)
      } catch (error) {
        throw new Error(`the background loop "${loop.name}" failed`, { cause: error })
      }
    }),
  )
}
