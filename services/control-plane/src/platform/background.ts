import type { ControlContext } from './context.js'

/**
 * Work of a feature besides requests, such as a runner or a schedule. `run` is called once, after the process listens. Its promise must resolve
 * soon after `ctx.shutdown` aborts, when no work of the feature is in progress. It handles its own failures: a rejection is a programming error
 * and ends the process.
 */
export interface BackgroundLoop {
  readonly name: string
  run(ctx: ControlContext): Promise<void>
}

/** Starts all loops. The promise resolves when all of them have ended, and rejects with the first error. */
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
