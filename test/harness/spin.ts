import { WebSocket } from 'undici'
import type { ServiceProcess } from './service-process.js'

/** Environment of a process that is to spin: its debugger takes any free port. */
export const SPINNABLE = { NODE_OPTIONS: '--inspect-port=0' } as const

/**
 * Makes a Node process, or one of its children, run an endless loop, through the debugger that SIGUSR1 opens.
 * @param holder the process whose output names the debugger's address
 */
export async function spin(holder: ServiceProcess, pid: number): Promise<void> {
  const before = holder.lines.length
  process.kill(pid, 'SIGUSR1')
  const isNew = (raw: string) => holder.lines.findLastIndex((line) => line.raw === raw) >= before
  const { raw } = await holder.line((line) => line.raw.startsWith('Debugger listening on ') && isNew(line.raw))
  const debug = new WebSocket(raw.replace('Debugger listening on ', ''))
  await new Promise((resolve, reject) => {
    debug.onopen = resolve
    debug.onerror = reject
  })
  debug.onerror = () => {}
  debug.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'for (;;);' } }))
}
