import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { WriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type OutputLine, outputLineSchema, type ResultLine, type TilingRequest } from '@gateway/tiling/protocol.js'

const BUILT_IN_TOOL = fileURLToPath(new URL('../../../tiler/dist/main.js', import.meta.url))

/** A tool that was told to stop and still runs is killed after this. */
const STOP_MS = 3000

export interface ToolRun {
  /** the result line; a tool that ends without one has failed */
  readonly result: Promise<ResultLine>
  /** ends the tool and all its children */
  stop(): void
}

/**
 * Runs the tiling tool: the built-in one, or the operator's own command in a shell, both speaking the protocol of `@gateway/tiling`. What it
 * writes to stderr, and its lines, go into the log. It runs in a process group of its own, so that all of it can be ended.
 */
export function runTool(
  command: string | null,
  request: TilingRequest,
  log: WriteStream,
  onLine: (line: OutputLine) => void,
): ToolRun {
  const [program, ...args] = command === null ? [process.execPath, BUILT_IN_TOOL] : ['/bin/sh', '-c', command]
  const child = spawn(program as string, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stderr.pipe(log, { end: false })
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(request))
  return { result: outcome(child, log, onLine), stop: () => stopGroup(child) }
}

async function outcome(child: ChildProcess, log: WriteStream, onLine: (line: OutputLine) => void): Promise<ResultLine> {
  let result: ResultLine | null = null
  const ended = once(child, 'close').catch((error: Error) => error)
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', (text) => {
    log.write(`${text}\n`)
    const line = parseLine(text)
    if (line === null) return
    if (line.type === 'result') result = line
    else onLine(line)
  })
  const end = await ended
  if (end instanceof Error)
    return { type: 'result', ok: false, reason: `the tiling tool could not be started: ${end.message}` }
  const [code, signal] = end as [number | null, string | null]
  const told = result as ResultLine | null
  if (told !== null && (told.ok === false || code === 0)) return told
  return {
    type: 'result',
    ok: false,
    reason: `the tiling tool ended without a result (${signal ?? `exit code ${code}`}); see its log`,
  }
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
    // Whatever it started and left behind shares its group.
    signalGroup(child, 'SIGKILL')
  })
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // The group has ended already.
  }
}
