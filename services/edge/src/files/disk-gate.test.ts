import { createLog } from '@gateway/core/logging/log.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DISK_LIMIT_MS, DiskGate } from './disk-gate.js'

/** Two threads for one root, six for all. */
const THREADS = 8
const log = createLog('edge', 'silent')

let gate: DiskGate
let discarded: unknown[]
beforeEach(() => {
  vi.useFakeTimers()
  gate = new DiskGate({ log, threads: THREADS })
  discarded = []
})
afterEach(() => void vi.useRealTimers())

/** A read that ends when the test says so. */
function ask(root: string, value = 'value', wanted = () => true) {
  const read = vi.fn()
  let end!: (error?: Error) => void
  const ended = new Promise<string>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve(value) : reject(error))
  })
  const outcome = gate.run(root, {
    read: () => {
      read()
      return ended
    },
    discard: (late) => void discarded.push(late),
    isWanted: wanted,
  })
  return { read, end, outcome }
}

const BUSY = { ok: false, why: 'busy' }

test('run resolves and rejects like the read', async () => {
  const [good, bad] = [ask('a'), ask('a')]
  good.end()
  bad.end(new Error('EIO'))
  expect(await good.outcome).toEqual({ ok: true, value: 'value' })
  await expect(bad.outcome).rejects.toThrow('EIO')
})

test('the threads of one root are limited, and another root has its own', async () => {
  const [first, second, third] = [ask('a'), ask('a'), ask('a')]
  const other = ask('b')
  expect([first, second, third, other].map(({ read }) => read.mock.calls.length)).toEqual([1, 1, 0, 1])
  first.end()
  await first.outcome
  await vi.advanceTimersByTimeAsync(0)
  expect(third.read).toHaveBeenCalledOnce()
})

test('all roots together leave some threads to the rest of the process, and alternate', async () => {
  const reads = ['a', 'b', 'c', 'd'].flatMap((root) => [ask(root), ask(root)])
  const begun = () => reads.map(({ read }) => read.mock.calls.length)
  expect(begun()).toEqual([1, 1, 1, 1, 1, 1, 0, 0])
  reads[0]?.end()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun()).toEqual([1, 1, 1, 1, 1, 1, 1, 0])
})

test('a read that takes too long is busy, and its late result is discarded', async () => {
  const hanging = ask('a', 'late')
  await vi.advanceTimersByTimeAsync(DISK_LIMIT_MS)
  expect(await hanging.outcome).toEqual(BUSY)
  expect(discarded).toEqual([])
  hanging.end()
  await vi.advanceTimersByTimeAsync(0)
  expect(discarded).toEqual(['late'])
})

test('while all threads of a root hang, calls fail at once; after one returns, the root is read again', async () => {
  const hanging = [ask('a'), ask('a')]
  await vi.advanceTimersByTimeAsync(DISK_LIMIT_MS)
  const refused = ask('a')
  expect(await refused.outcome).toEqual(BUSY)
  expect(refused.read).not.toHaveBeenCalled()
  const other = ask('b')
  other.end()
  expect(await other.outcome).toMatchObject({ ok: true })
  hanging[0]?.end(new Error('late, and nobody hears it'))
  await vi.advanceTimersByTimeAsync(0)
  const again = ask('a')
  again.end()
  expect(await again.outcome).toMatchObject({ ok: true })
})

test('a read that waits too long for its turn never starts', async () => {
  const [first, second, waiting] = [ask('a'), ask('a'), ask('a')]
  await vi.advanceTimersByTimeAsync(DISK_LIMIT_MS)
  expect(await waiting.outcome).toEqual(BUSY)
  for (const { end } of [first, second]) end()
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting.read).not.toHaveBeenCalled()
})

test('a read that is no longer wanted at its turn does not start', async () => {
  const [first, second] = [ask('a'), ask('a')]
  let wanted = true
  const left = ask('a', 'value', () => wanted)
  const next = ask('a')
  wanted = false
  first.end()
  expect(await left.outcome).toEqual({ ok: false, why: 'unwanted' })
  expect(left.read).not.toHaveBeenCalled()
  expect(next.read).toHaveBeenCalledOnce()
  second.end()
})

test('a full queue refuses further reads', async () => {
  const asked = Array.from({ length: 17_000 }, () => ask('a').outcome)
  const first = await Promise.race([...asked])
  expect(first).toEqual(BUSY)
})
