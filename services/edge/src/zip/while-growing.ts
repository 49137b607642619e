import fs from 'node:fs/promises'

/** Time in ms without growth after which a file is considered stalled: its input does not arrive any more. A slow disk delivers bytes sooner. */
const STALLED_MS = 30_000
const LOOK_EVERY_MS = 5_000

/** Waits for work that writes a file, and cancels it by its signal when the file stops growing: `stalled`. Rejects with the error of the work. */
export async function whileGrowing<T>(
  file: string,
  work: (signal: AbortSignal) => Promise<T>,
  stalledMs = STALLED_MS,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<T | 'stalled'> {
  const stalled = new AbortController()
  let [size, grownAt] = [0, performance.now()]
  const timer = setInterval(async () => {
    const now = await fs.stat(file).catch(() => ({ size: 0 }))
    if (now.size !== size) [size, grownAt] = [now.size, performance.now()]
    else if (performance.now() - grownAt >= stalledMs) stalled.abort()
  }, lookEveryMs)
  try {
    return await work(stalled.signal)
  } catch (error) {
    if (stalled.signal.aborted) return 'stalled'
    throw error
  } finally {
    clearInterval(timer)
  }
}
