import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { lowerPriority, NICE } from './priority.js'

test('a process that leads a session lowers the priority of the session, and another one only its own', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const pid = child.pid as number
  try {
    lowerPriority(NICE.background, pid)
    expect(getPriority(pid)).toBe(10)
    const group = `/proc/${pid}/autogroup`
    // A kernel without such groups has no such file.
    if (existsSync(group)) expect(readFileSync(group, 'latin1')).toMatch(/nice 10$/m)
  } finally {
    child.kill('SIGKILL')
  }
})

test('a process that has ended causes no error', async () => {
  const child = spawn('true', { stdio: 'ignore' })
  await once(child, 'close')
  expect(() => lowerPriority(NICE.background, child.pid as number)).not.toThrow()
})
