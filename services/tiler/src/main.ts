import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { coded, textOf } from '@gateway/contracts/messages.js'
import {
  MAX_REQUEST_BYTES,
  type OutputLine,
  type ResultLine,
  type TilingRequest,
  tilingRequestSchema,
} from '@gateway/contracts/tiling/protocol.js'
import { killAll } from '@gateway/core/processes/run-to-end.js'
import { engineHere } from './engines/choose.js'
import { Failure, reasonOf } from './failure.js'
import { type Reporter, run } from './run.js'

/**
 * The tiling tool: one JSON request on stdin, JSON lines on stdout, a log for people on stderr; see protocol.ts. It exits with
 * 0 after `ok: true`, with 1 after `ok: false`, and with 128 + n after signal n. With `--engine` it only prints, as JSON, the engine
 * that it would use on this machine.
 */

const SIGNALS = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

/** Milliseconds between two checks whether the parent process still lives. */
const PARENT_CHECK_MS = 500

let scratch: string | null = null

/** Makes text safe for a log: a terminal must not interpret any of it. */
function visible(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
}

const reporter: Reporter = {
  report: (line: OutputLine) => process.stdout.write(`${JSON.stringify(line)}\n`),
  log: (message: string) => {
    for (const line of message.split('\n')) process.stderr.write(`${visible(line)}\n`)
  },
}

/** Ends everything at once. Temporary files are removed; staged tiles belong to the caller. */
function leave(code: number): never {
  killAll()
  if (scratch) rmSync(scratch, { recursive: true, force: true })
  process.exit(code)
}

function finish(result: ResultLine): void {
  if (!result.ok) reporter.log(`failed: ${result.reason}`)
  // Work in progress after a failure ends with the process, as soon as the last line is written.
  process.stdout.write(`${JSON.stringify(result)}\n`, () => leave(result.ok ? 0 : 1))
}

async function readRequest(): Promise<TilingRequest> {
  const input = await text(process.stdin)
  if (input.length > MAX_REQUEST_BYTES) throw new Failure(coded('slice_request_too_long'))
  let value: unknown
  try {
    value = JSON.parse(input)
  } catch {
    throw new Failure(coded('slice_request_not_json'))
  }
  const parsed = tilingRequestSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw new Failure(coded('slice_request_not_valid', { words: [...path, message].join(': ') }))
}

function timeout(seconds: number): Promise<never> {
  // Longer than a timer can count means no limit.
  const milliseconds = Math.min(seconds * 1000, 2 ** 31 - 1)
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Failure(coded('slice_tool_late', { seconds }))), milliseconds)
  })
}

async function main(): Promise<void> {
  try {
    const request = await readRequest()
    mkdirSync(request.temp_dir, { recursive: true })
    scratch = mkdtempSync(join(request.temp_dir, 'tiler-'))
    finish(await Promise.race([run(request, scratch, reporter), timeout(request.limits.timeout_seconds)]))
  } catch (error) {
    if (!(error instanceof Failure))
      reporter.log(error instanceof Error ? (error.stack ?? error.message) : String(error))
    const reason = reasonOf(error)
    finish({
      type: 'result',
      ok: false,
      reason: textOf(reason),
      message_code: reason.code,
      message_params: reason.params,
    })
  }
}

for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => leave(code))
// The caller is gone.
process.stdout.on('error', () => leave(1))
process.stderr.on('error', () => {})
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) leave(1)
}, PARENT_CHECK_MS).unref()

if (process.argv[2] === '--engine') process.stdout.write(`${JSON.stringify(engineHere())}\n`)
else await main()
