import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Clock ticks per second in /proc: the same on every Linux that Node runs on. */
const TICKS = 100

/** Returns the load averages of 1, 5 and 15 minutes as a text. */
export function loadAverage(): string {
  return loadavg()
    .map((n) => n.toFixed(1))
    .join(' ')
}

/** The processors of the server and of the load; null: there is only one, or no taskset, and nothing is bound. */
export interface Cores {
  readonly server: number
  readonly load: number
}

/** Returns the first two processors that this process may use. */
export function chooseCores(): Cores | null {
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
  const [server, load] = allowed.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, i) => from + i)
  })
  if (server === undefined || load === undefined) return null
  return spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0 ? { server, load } : null
}

/** Returns the command prefix that binds a command to one processor. */
export function onCore(core: number | undefined): string[] {
  return core === undefined ? [] : ['taskset', '-c', String(core)]
}

/** Binds this process, all of its threads and its later child processes. */
export function bindSelf(core: number | undefined): void {
  if (core !== undefined) spawnSync('taskset', ['-a', '-cp', String(core), String(process.pid)], { stdio: 'ignore' })
}

/** Returns the processor time of these processes since their start, in seconds, without ended ones. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = statFields(pid)
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS
  }, 0)
}

/** Returns the processor time of this process and of its ended children, in seconds. */
export function ownCpuSeconds(): number {
  return statFields(process.pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / TICKS, 0)
}

/** Returns the busy time of all processors since boot, in seconds. Includes stolen time, which is unavailable too. */
export function busySeconds(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] as string)
    .split(/\s+/)
    .map(Number)
  return [user, nice, system, irq, softirq, steal].reduce((sum: number, ticks) => sum + (ticks ?? 0), 0) / TICKS
}

/** Returns the total resident memory of these processes in bytes: the current value, or the sum of the peaks. */
export function memory(pids: readonly number[], what: 'now' | 'peak'): number {
  const line = what === 'now' ? /^VmRSS:\s*(\d+)/m : /^VmHWM:\s*(\d+)/m
  return pids.reduce((sum, pid) => sum + 1024 * Number(line.exec(readProc(pid, 'status'))?.[1] ?? 0), 0)
}

/** Returns the bytes that these processes have caused to be written to the disk (proc_pid_io(5), `write_bytes`). */
export function writtenBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + Number(/^write_bytes: (\d+)/m.exec(readProc(pid, 'io'))?.[1] ?? 0), 0)
}

/** Returns a process and all its descendants. */
export function family(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc')) {
    const parent = Number(statFields(Number(entry))[1] ?? 0)
    if (parent > 0) children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
  }
  const found = [pid]
  for (const member of found) found.push(...(children.get(member) ?? []))
  return found
}

export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryBytes: number
  readonly kernel: string
  readonly node: string
}

export function describeMachine(): Machine {
  const all = cpus()
  return {
    processor: all[0]?.model ?? 'unknown',
    processors: all.length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
  }
}

/** Returns the fields of proc(5) stat after the command name: state, parent, ... */
function statFields(pid: number): string[] {
  const stat = Number.isInteger(pid) ? readProc(pid, 'stat') : ''
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
