import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { takeHostLock } from './host-lock.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'host-lock-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('processes never hold a lock together, and those that are killed leave none', async () => {
  const module = new URL('../../dist/files/host-lock.js', import.meta.url)
  // Each one writes its number into a file that no other may have while it holds the lock.
  const program = `
    import fs from 'node:fs'
    import { takeHostLock } from ${JSON.stringify(module.href)}
    for (;;) {
      const release = await takeHostLock(${JSON.stringify(path.join(folder, 'a.lock'))}, async () => false, 1)
      const mark = ${JSON.stringify(path.join(folder, 'mark'))}
      fs.writeFileSync(mark, String(process.pid))
      await new Promise((resolve) => setTimeout(resolve, 1))
      if (fs.readFileSync(mark, 'utf8') !== String(process.pid)) process.stdout.write('two\\n')
      await release()
      process.stdout.write('.')
    }`
  const start = () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  const crowd = Array.from({ length: 4 }, start)
  for (const one of crowd) one.stdout.on('data', (text) => said.push(String(text)))
  const turns = () => said.join('').length
  await expect.poll(turns).toBeGreaterThan(100)
  expect(said.join('')).not.toContain('two')
  for (const one of crowd) {
    const before = turns()
    one.kill('SIGKILL')
    await once(one, 'exit')
    if (one !== crowd.at(-1)) await expect.poll(turns).toBeGreaterThan(before)
  }
  expect(await takeHostLock(path.join(folder, 'a.lock'), async () => false, 1)).not.toBeNull()
})
