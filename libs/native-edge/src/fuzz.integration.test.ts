import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const RUN = fileURLToPath(new URL('../fuzz/run.mjs', import.meta.url))
/** The same cases in every run and on every machine. New cases are drawn manually (`npm run fuzz`), and their findings become fixed cases. */
const CASES = ['--rounds', '120', '--seed', '1']

test('the native code parses requests and answers them from its table correctly for any bytes in any packets', {
  timeout: 600_000,
}, async () => {
  // Without the search for leaks, which needs privileges that a container may lack.
  const env = { ...process.env, ASAN_OPTIONS: 'detect_leaks=0:quarantine_size_mb=8:malloc_context_size=8' }
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...CASES], { env }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${stdout}${stderr}`)
    },
  )
  console.log(stdout.trim())
  expect(stdout).toMatch(/all held/)
})
