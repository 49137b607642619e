import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onCore } from '../machine.js'
import type { Load, LoadResult } from './load.js'

/** Reads the same file of requests as the suite's own generator, and prints the same fields. wrk tells failed statuses from others, no more. */
const SCRIPT = `
local requests, at = {}, 0
function init(args)
  for line in io.lines(args[1]) do
    local path, headers = nil, {}
    for field in line:gmatch("[^\\t]+") do
      if path == nil then path = field else
        local name, value = field:match("^([^:]+): *(.*)$")
        headers[name] = value
      end
    end
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.timeout
  local text = '{"requests":%d,"seconds":%f,"bytes":%d,"failures":%d,"statuses":{"200":%d,"400":%d},'
  io.write(text:format(summary.requests, summary.duration / 1e6, summary.bytes, failures, summary.requests - errors.status, errors.status))
  text = '"p50":%d,"p90":%d,"p99":%d,"p999":%d}\\n'
  io.write(text:format(latency:percentile(50), latency:percentile(90), latency:percentile(99), latency:percentile(99.9)))
end
`

const execute = promisify(execFile)

/** The stand-in for the suite's own generator. It knows no rate, and statuses only as 200 (anything below 400) and 400. */
export async function runWrk({ port, connections, seconds, requests, core, rate }: Load): Promise<LoadResult> {
  if (rate !== undefined) throw new Error('wrk cannot hold a rate: this measurement needs a C compiler (cc)')
  const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-wrk-'))
  try {
    const script = join(dir, 'requests.lua')
    await writeFile(script, SCRIPT)
    // Whole seconds only.
    const options = ['-t', '1', '-c', String(connections), '-d', `${Math.ceil(seconds)}s`, '-s', script]
    const [command = '', ...args] = [...onCore(core), 'wrk', ...options, `http://127.0.0.1:${port}/`, '--', requests]
    const { stdout } = await execute(command, args)
    return JSON.parse(stdout.split('\n').find((line) => line.startsWith('{')) as string) as LoadResult
  } finally {
    await rm(dir, { recursive: true })
  }
}
