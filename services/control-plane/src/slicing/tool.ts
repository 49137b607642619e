import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type OutputLine,
  outputLineSchema,
  type ResultLine,
  type TilingRequest,
} from '@gateway/contracts/tiling/protocol.js'
import { bundleOf } from '@gateway/core/processes/bundle-of.js'

const BUILT_IN_TOOL = fileURLToPath(new URL('../../../tiler/dist/main.js', import.meta.url))

/** A job's tool that is killed by this signal is run again at most this often: the kernel kills what needs too much memory, at each run. */
const MAX_RERUNS = 2

/** Time after SIGTERM at which a tool that still runs is killed. */
const STOP_MS = 3000

type Run = readonly [
  command: string | null,
  request: TilingRequest,
  log: Writable,
  onLine: (line: OutputLine) => void,
  signal: AbortSignal,
]

/** Like `runOnce`. A tool that somebody else kills is run again, if the request lets it go on with its finished blocks. */
export async function runTool(...run: Run): Promise<ResultLine> {
  const [, { resume }, log, , signal] = run
  let end = await runOnce(...run)
  for (let i = 0; resume !== undefined && i < MAX_RERUNS && end.killed && !signal.aborted; i++) {
    log.write('the tiling tool was killed, and is run again\n')
    end = await runOnce(...run)
  }
  return end.result
}

interface End {
  readonly result: ResultLine
  readonly killed: boolean
}

/**
 * Runs the tiling tool to its end: the built-in one, or the operator's own command in a shell. Both use the protocol of the tiling contract. Its
 * stderr and its lines go into the log. It runs in its own process group, so that `signal` ends it with all its children. Returns its result
 * line; a tool that ends without one has failed.
 */
async function runOnce(...[command, request, log, onLine, signal]: Run): Promise<End> {
  const [program, ...args] = command === null ? [process.execPath, bundleOf(BUILT_IN_TOOL)] : ['/bin/sh', '-c', command]
  const child = spawn(program as string, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close').catch((error: Error) => error)
  // Processes that it started would write the same files as those of the next run.
  child.once('exit', (_, killed) => killed !== null && signalGroup(child, 'SIGKILL'))
  child.stderr.pipe(log, { end: false })
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(request))
  const stop = () => stopGroup(child)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const results: ResultLine[] = []
  createInterface({ input: child.stdout }).on('line', (text) => {
    log.write(`${text}\n`)
    const line = parseLine(text)
    if (line?.type === 'result') results.push(line)
    else if (line !== null) onLine(line)
  })
  const end = await ended
  signal.removeEventListener('abort', stop)
  if (end instanceof Error) return failed(`the tiling tool could not be started: ${end.message}`)
  const [code, killed] = end as [number | null, string | null]
  const result = results.at(-1)
  if (result !== undefined && (!result.ok || code === 0)) return { result, killed: false }
  const how = killed ?? `exit code ${code}`
  return failed(`the tiling tool ended without a result (${how}); see its log`, killed === 'SIGKILL')
}

function failed(reason: string, killed = false): End {
  return { result: { type: 'result', ok: false, reason }, killed }
}

function parseLine(text: string): OutputLine | null {
  try {
    const parsed = outputLineSchema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

function stopGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_MS)
  child.once('close', () => {
    clearTimeout(timer)
    // Processes that it started and left behind share its group.
    signalGroup(child, 'SIGKILL')
  })
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // The group has already ended.
  }
}
