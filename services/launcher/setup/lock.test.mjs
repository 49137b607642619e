import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tryLock, waitForLock } from './lock.mjs'

const module = new URL('./lock.mjs', import.meta.url).href
let dir
let path

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lock-'))
  path = join(dir, 'lock')
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Another process that takes the lock, says so, and holds it until its input ends. */
async function otherHolder() {
  const code = `const { tryLock } = await import(${JSON.stringify(module)})
    if (tryLock(${JSON.stringify(path)}).ok) console.log('held')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

test('a lock that another process holds is refused with the number of that process', async () => {
  const child = await otherHolder()
  expect(tryLock(path)).toEqual({ ok: false, pid: child.pid })
  child.stdin.end()
  await once(child, 'exit')
})

test('the lock of a process that was killed is taken over, and nothing but the lock is left in the folder', async () => {
  const child = await otherHolder()
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(tryLock(path).ok).toBe(true)
  expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(process.pid)
  expect(readdirSync(dir)).toEqual(['lock'])
})

test('a lock whose process number was given to another process since is taken over', () => {
  writeFileSync(path, JSON.stringify({ pid: process.ppid, started: 1 }))
  expect(tryLock(path).ok).toBe(true)
})

test('a lock whose text is damaged is taken over', () => {
  writeFileSync(path, '{')
  expect(tryLock(path).ok).toBe(true)
})

test('a waiting process gets the lock when it is given back, having said once for whom it waits', async () => {
  const first = tryLock(path)
  const waitedFor = []
  const waiting = waitForLock(path, (pid) => waitedFor.push(pid))
  first.release()
  const release = await waiting
  expect(waitedFor).toEqual([process.pid])
  release()
  expect(readdirSync(dir)).toEqual([])
})

test('of many processes that find the lock of a dead one, one at a time holds it', async () => {
  writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, started: 1 }))
  const counter = join(dir, 'counter')
  writeFileSync(counter, '0')
  const code = `const { waitForLock } = await import(${JSON.stringify(module)})
    import { readFileSync, writeFileSync } from 'node:fs'
    for (let i = 0; i < 20; i++) {
      const release = await waitForLock(${JSON.stringify(path)}, () => {})
      writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1))
      release()
    }`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'ignore', 'inherit'] }),
  )
  await Promise.all(children.map((child) => once(child, 'exit')))
  expect(readFileSync(counter, 'utf8')).toBe('80')
})
