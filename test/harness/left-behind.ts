import { isListening } from './ports.js'
import { markedProcesses } from './processes.js'
import type { ServiceProcess } from './service-process.js'

/**
 * Sockets and processes disappear a moment after the process that closed them has responded; a Postgres that ends with its parent first
 * writes a checkpoint.
 */
const GONE_WITHIN_MS = 20_000
const LOOK_AGAIN_MS = 20

/** Number of log lines of a process that a failed run shows; the whole log of a busy edge would hide the rest. */
const SHOWN_LINES = 20

/** Returns live processes with the mark, and kills them, so that the next test starts clean. */
export async function processesLeft(mark: string, withinMs = GONE_WITHIN_MS): Promise<string[]> {
  await settled(async () => markedProcesses(mark).length === 0, withinMs)
  const left = markedProcesses(mark)
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  return left.map(({ pid, command }) => `process ${pid} is left: ${command}`)
}

export async function portsLeft(ports: readonly number[], withinMs = GONE_WITHIN_MS): Promise<string[]> {
  const left: string[] = []
  for (const port of ports) {
    if (!(await settled(async () => !(await isListening(port)), withinMs)))
      left.push(`port ${port} is still listened on`)
  }
  return left
}

/** @param connections names of the connections that the gateway's database still has */
export async function connectionsLeft(
  connections: () => Promise<readonly string[]>,
  withinMs = GONE_WITHIN_MS,
): Promise<string[]> {
  if (await settled(async () => (await connections()).length === 0, withinMs)) return []
  return (await connections()).map((name) => `a database connection of ${name || 'an unnamed client'} is left`)
}

/** @param allowed lines that the test provokes */
export function troubleIn(processes: readonly ServiceProcess[], allowed: readonly RegExp[]): string[] {
  return processes.flatMap((process) =>
    process
      .trouble(allowed)
      .slice(0, SHOWN_LINES)
      .map(({ raw }) => `${process.name} wrote: ${raw}`),
  )
}

async function settled(done: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (!(await done())) {
    if (Date.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
  return true
}
