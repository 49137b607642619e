import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runTool } from './tool.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tool-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const RESULT = { type: 'result', ok: true, tiles_written: 1, bounds: [0, 0, 1, 1], min_zoom: 0, max_zoom: 1 }
const OK = `echo '${JSON.stringify({ ...RESULT, format: 'webp', tile_size: 256 })}'`

/** Runs a shell command as the tool, and returns its end and the number of its runs. */
async function run(command: string, request: object = { resume: { dir, source_tags: [] } }) {
  const runs = join(dir, 'runs')
  const log = new PassThrough().resume()
  const { signal } = new AbortController()
  const end = await runTool(`echo run >> ${runs}; ${command}`, request as TilingRequest, log, () => {}, signal)
  return { end, runs: readFileSync(runs, 'utf8').trim().split('\n').length }
}

test('a tool that is killed once is run again', async () => {
  const { end, runs } = await run(`[ -e ${dir}/killed ] || { touch ${dir}/killed; kill -KILL $$; }; ${OK}`)
  expect([end.ok, runs]).toEqual([true, 2])
})

test('a tool that is killed at each run fails with the signal', async () => {
  const { end, runs } = await run('kill -KILL $$')
  expect([end, runs]).toEqual([{ type: 'result', ok: false, reason: expect.stringContaining('SIGKILL') }, 3])
})

test('a tool that cannot go on with finished blocks is not run again', async () => {
  expect(await run('kill -KILL $$', {})).toMatchObject({ end: { ok: false }, runs: 1 })
})

test.each([
  ['kill -SEGV $$', 'SIGSEGV'],
  ['exit 3', 'exit code 3'],
])('a tool that ends by %s is not run again', async (command, how) => {
  expect(await run(command)).toMatchObject({ end: { reason: expect.stringContaining(how) }, runs: 1 })
})

test('a tool that is killed leaves none of its processes behind', async () => {
  // Without the kill of its group, the run would last as long as the process that holds its output.
  const { runs } = await run(`[ -e ${dir}/killed ] || { touch ${dir}/killed; sleep 1000 & kill -KILL $$; }; ${OK}`)
  expect(runs).toBe(2)
})
