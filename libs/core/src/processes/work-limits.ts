import { readdirSync, readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskSpace } from '../files/disk-space.js'

/** Limits of one piece of work in a process, with everything that the process starts. */
export interface WorkLimits {
  readonly seconds: number
  readonly processorSeconds: number
  /** its own memory, without mapped files */
  readonly memoryBytes: number
  readonly outputBytes: number
  /** all that it writes is below this folder */
  readonly folder: string
}

/** `disk`: the space that is kept free would be used. */
export type LimitName = 'time' | 'processor' | 'memory' | 'output' | 'disk'

export interface LimitMet {
  readonly limit: LimitName
  /** seconds or bytes */
  readonly value: number
}

const LOOK_MS = 500

/** The space of a disk that work leaves free for the store, the log and the other work: this share, and at most so many bytes. */
const KEPT_SHARE = 0.05
const MAX_KEPT_BYTES = 2 * 2 ** 30

/** Clock ticks of a second in /proc (USER_HZ), and bytes of the kilobytes there. */
const TICKS = 100
const KILOBYTE = 1024

/**
 * Looks twice a second at a process, all its descendants and their output, and calls `met` once if a limit is met. Reads Linux's /proc; elsewhere
 * only time, output and disk are limited. Between two looks a limit may be passed.
 * @returns a function that ends the watch
 */
export function watchWork(pid: number, limits: WorkLimits, met: (limit: LimitMet) => void): () => void {
  const since = performance.now()
  let isOver = false
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const found = await limitMet(pid, limits, (performance.now() - since) / 1000)
    isLooking = false
    if (found === null || isOver) return
    stop()
    met(found)
  }
  const timer = setInterval(look, LOOK_MS)
  const stop = () => {
    isOver = true
    clearInterval(timer)
  }
  return stop
}

async function limitMet(pid: number, limits: WorkLimits, seconds: number): Promise<LimitMet | null> {
  if (seconds > limits.seconds) return { limit: 'time', value: limits.seconds }
  const used = processTree(pid).map(usageOf)
  const sum = (of: (one: Usage) => number) => used.reduce((total, one) => total + of(one), 0)
  if (sum((one) => one.processorSeconds) > limits.processorSeconds)
    return { limit: 'processor', value: limits.processorSeconds }
  if (sum((one) => one.memoryBytes) > limits.memoryBytes) return { limit: 'memory', value: limits.memoryBytes }
  if ((await bytesBelow(limits.folder)) > limits.outputBytes) return { limit: 'output', value: limits.outputBytes }
  const space = await diskSpace(limits.folder)
  if (space === null) return null
  const kept = Math.min(MAX_KEPT_BYTES, Math.floor(space.total * KEPT_SHARE))
  return space.free < kept ? { limit: 'disk', value: kept } : null
}

/** Returns the bytes of the own memory of a process and its descendants, without mapped files; 0 outside Linux. */
export function treeMemory(pid: number): number {
  return processTree(pid).reduce((total, one) => total + usageOf(one).memoryBytes, 0)
}

/** Returns the processor time in seconds that a process and its living descendants have used; 0 outside Linux. */
export function treeProcessorSeconds(pid: number): number {
  return processTree(pid).reduce((total, one) => total + usageOf(one).processorSeconds, 0)
}

/** Kills a process and all its descendants. */
export function killTree(pid: number): void {
  for (const one of processTree(pid)) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

/** Returns a process and its descendants; only the process itself if /proc does not list children. */
function processTree(pid: number): number[] {
  const found = [pid]
  for (const one of found) found.push(...childrenOf(one))
  return found
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}

interface Usage {
  readonly processorSeconds: number
  readonly memoryBytes: number
}

/** Returns what a process uses, with the processor time of its ended children. */
function usageOf(pid: number): Usage {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The fields utime, stime, cutime and cstime of proc(5), counted behind the command, which may contain anything.
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .reduce((total, field) => total + Number(field), 0)
    const own = /^RssAnon:\s{1,20}(\d{1,15})/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return { processorSeconds: ticks / TICKS, memoryBytes: Number(own ?? 0) * KILOBYTE }
  } catch {
    return { processorSeconds: 0, memoryBytes: 0 }
  }
}

/** Returns the bytes on the disk of all files below a folder. A file that vanishes meanwhile is left out. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return bytesBelow(path)
    return entry.isFile()
      ? stat(path).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        )
      : 0
  })
  return (await Promise.all(sizes)).reduce((total, bytes) => total + bytes, 0)
}
