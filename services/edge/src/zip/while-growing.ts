import fs from 'node:fs/promises'

/** A file that has not grown for so long will not: what is packed into it does not come any more. Bytes of a slow disk come sooner. */
const STALLED_MS = 30_000
const LOOK_EVERY_MS = 5_000

/** Waits for work that writes a file, and calls it off by its signal when the file stops growing: `stalled`. Rejects with what it rejects with. */
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
