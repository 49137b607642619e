import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runQueueWaitMs } from './heartbeat.js'

test('processes that share one processor wait for it, and a stopped one does not', async () => {
  const spin = () => spawn('taskset', ['-c', '0', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' })
  const children = [spin(), spin()]
  try {
    const pids = children.map(({ pid }) => pid ?? 0)
    for (const pid of pids) await expect.poll(() => runQueueWaitMs(pid)).toBeGreaterThan(100)
    const [stopped = 0, running = 0] = pids
    process.kill(stopped, 'SIGSTOP')
    // The process stops when it next enters the kernel, which then reports its waiting time so far.
    await expect.poll(() => state(stopped)).toBe('T')
    const before = [runQueueWaitMs(stopped), cpuTicks(running)] as const
    await expect.poll(() => cpuTicks(running)).toBeGreaterThan(before[1] + 10)
    expect(runQueueWaitMs(stopped)).toBe(before[0])
  } finally {
    for (const child of children) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
})

test('a process that does not exist has not waited', () => {
  expect(runQueueWaitMs(-1)).toBe(0)
})

function stat(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
}
const state = (pid: number) => stat(pid)[0]
const cpuTicks = (pid: number) => Number(stat(pid)[11])
