import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tryLock, waitForLock } from './lock.mjs'

const module = JSON.stringify(new URL('./lock.mjs', import.meta.url).href)
let dir
let path

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lock-'))
  path = join(dir, 'lock')
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Another process that takes the lock, says so, and holds it until it is killed; it has a child, which does not hold it. */
async function otherHolder() {
  const code = `const { tryLock } = await import(${module})
    const { spawn } = await import('node:child_process')
    if (tryLock(${JSON.stringify(path)}).ok) console.log(spawn('sleep', ['60'], { stdio: 'ignore' }).pid)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [grandchild] = await once(child.stdout.setEncoding('utf8'), 'data')
  return { child, grandchild: Number(grandchild) }
}

test('a lock is refused with the number of the process that holds it, and free once that is killed', async () => {
  const { child, grandchild } = await otherHolder()
  expect(tryLock(path)).toEqual({ ok: false, pid: child.pid })
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(tryLock(path).ok).toBe(true)
  process.kill(grandchild)
})

test('a waiting process gets the lock when it is given back, and was told once for which process it waits', async () => {
  const first = /** @type {{ release: () => void }} */ (tryLock(path))
  const waitedFor = []
  const waiting = waitForLock(path, (pid) => waitedFor.push(pid), 0)
  first.release()
  const release = await waiting
  expect(waitedFor).toEqual([process.pid])
  release()
})

test('of many processes one at a time holds it', async () => {
  const counter = join(dir, 'counter')
  writeFileSync(counter, '0')
  const code = `const { waitForLock } = await import(${module})
    import { readFileSync, writeFileSync } from 'node:fs'
    for (let i = 0; i < 10; i++) {
      const release = await waitForLock(${JSON.stringify(path)}, () => {})
      writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1))
      release()
    }`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'ignore', 'inherit'] }),
  )
  await Promise.all(children.map((child) => once(child, 'exit')))
  expect(readFileSync(counter, 'utf8')).toBe('40')
})
