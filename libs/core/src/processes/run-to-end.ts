import { type ChildProcess, spawn } from 'node:child_process'
import { lowerPriority, NICE } from './priority.js'

/** Maximum bytes of a helper program's output. The header of an image with a huge palette or metadata fits. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

/** Maximum bytes of a helper program's stderr that are kept. Damaged images repeat their errors. */
const MAX_STDERR_BYTES = 64 * 1024

export interface Invocation {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** descriptors that the program sees as 3, 4, 5... */
  readonly descriptors: readonly number[]
  readonly input?: string
  readonly idleSeconds: number
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** reason why the program was ended: it wrote nothing for too long, or too much */
  readonly stopped: 'idle' | 'flood' | null
}

const running = new Set<ChildProcess>()

/** Ends every helper program and its children at once. */
export function killAll(): void {
  for (const child of running) killGroup(child)
}

/** Ends a program and everything in its process group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The program has already ended.
  }
}

/** Starts a program as the leader of a new process group. `killAll` ends it. */
export function start(invocation: Omit<Invocation, 'input' | 'idleSeconds'>): ChildProcess {
  const child = spawn(invocation.command, invocation.args, {
    env: { ...invocation.env },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...invocation.descriptors],
  })
  if (child.pid !== undefined) lowerPriority(NICE.background, child.pid)
  running.add(child)
  const forget = () => running.delete(child)
  child.once('exit', forget).once('error', forget)
  return child
}

/** Calls `stuck` if `touch` has not been called for so long. */
export function watchdog(seconds: number, stuck: () => void): { touch: () => void; stop: () => void } {
  const timer = setTimeout(stuck, seconds * 1000)
  return { touch: () => timer.refresh(), stop: () => clearTimeout(timer) }
}

/** Runs a program to its end. Rejects only if it cannot be started. */
export function runToEnd(invocation: Invocation): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = start(invocation)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    let stdoutBytes = 0
    let stderrBytes = 0
    let stopped: Outcome['stopped'] = null
    const stop = (why: 'idle' | 'flood') => {
      stopped = why
      killGroup(child)
    }
    const dog = watchdog(invocation.idleSeconds, () => stop('idle'))
    child.stdout!.on('data', (data: Buffer) => {
      dog.touch()
      stdoutBytes += data.length
      if (stdoutBytes > MAX_OUTPUT_BYTES) stop('flood')
      else stdout.push(data)
    })
    child.stderr!.on('data', (data: Buffer) => {
      dog.touch()
      if (stderrBytes < MAX_STDERR_BYTES) stderr.push(data.subarray(0, MAX_STDERR_BYTES - stderrBytes))
      stderrBytes += data.length
    })
    // A program that ends before it has read its input is judged by its exit code. The broken pipe is ignored.
    child.stdin!.on('error', () => {})
    child.stdin!.end(invocation.input ?? '')
    child.once('error', (error) => {
      dog.stop()
      reject(error)
    })
    child.once('close', (code) => {
      dog.stop()
      const text = (parts: Buffer[]) => Buffer.concat(parts).toString('utf8')
      resolve({ code, stdout: text(stdout), stderr: text(stderr), stopped })
    })
  })
}
