import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { registryTrouble } from './install.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'install-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true })
})

test('a registry that is not in reach is told by the reason', async () => {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1/')
  // As `npm test --silent` passes it on.
  vi.stubEnv('npm_config_loglevel', 'silent')
  expect(await registryTrouble(root)).toBe('ECONNREFUSED')
})

test('a tool that heeds no signal is ended with the process that runs it', async () => {
  const deaf = "process.on('SIGINT', () => {}); setInterval(() => {}, 1000); require('fs').writeFileSync('started', '')"
  const script = `
    import { watch } from 'node:fs'
    import { runTool } from '${join(import.meta.dirname, 'run-tool.mjs')}'
    watch('.', () => console.log('runs'))
    const { signal } = await runTool(process.execPath, ['-e', ${JSON.stringify(deaf)}], '.')
    console.log(signal)
    process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (said === '') child.kill('SIGINT')
    said += text
  })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(said).toMatch(/SIGINT\n$/)
})
