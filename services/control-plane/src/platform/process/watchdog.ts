import { Worker } from 'node:worker_threads'
import { BEAT_MS, beat } from '@gateway/core/processes/heartbeat.js'

/**
 * Monitors the event loop of this process: by the launcher that started it, or else by a separate thread, which kills the process so that its
 * supervisor restarts it.
 */
export function startWatchdog(): void {
  if (process.connected) {
    beat()
    return
  }
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url))
  thread.unref()
  setInterval(() => thread.postMessage(null), BEAT_MS).unref()
}
