import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { HelperPool, type PoolOptions } from './helper-pool.js'
import type { HelperTask } from './testing/misbehaving-helper.js'

const MODULE = new URL('../../dist/processes/testing/misbehaving-helper.js', import.meta.url)
const OPTIONS: PoolOptions = { module: MODULE, processes: 2, stepMs: 500, taskMs: 10_000, memoryMb: 250, waiting: 8 }

const pools: HelperPool<HelperTask, unknown>[] = []
const poolOf = (options: Partial<PoolOptions<HelperTask>> = {}) => {
  const pool = new HelperPool<HelperTask, unknown>({ ...OPTIONS, ...options })
  pools.push(pool)
  return pool
}
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close()
})

const ANSWER: HelperTask = { do: 'answer', with: new Map() }
const pidOf = (pool: HelperPool<HelperTask, unknown>, caller = 'a') => pool.run('pid', { do: 'name yourself' }, caller)

test('a task that spins is ended with the name of its step, and the next one is done', async () => {
  const pool = poolOf()
  const spins = pool.run('spins', { do: 'spin', name: 'the bad part' }, 'a')
  await expect(spins).rejects.toMatchObject({ name: 'TaskEnded', at: 'the bad part' })
  expect(await pool.run('answer', ANSWER, 'a')).toBeInstanceOf(Map)
})

test('a task that only waits has more time, and is told apart', async () => {
  const pool = poolOf({ stepMs: 100 })
  await expect(pool.run('hangs', { do: 'hang' }, 'a')).rejects.toMatchObject({ name: 'TaskEnded', mayPass: true })
})

test.each(['fill the heap', 'fill the memory'] as const)('a task that would %s ends its own process', async (what) => {
  const pool = poolOf({ stepMs: 60_000, taskMs: 60_000 })
  await expect(pool.run('fills', { do: what }, 'a')).rejects.toMatchObject({ name: 'TaskEnded', at: what })
  expect(await pool.run('answer', ANSWER, 'a')).toBeInstanceOf(Map)
})

test('a caller whose tasks hang leaves a process to the others, and its waiting tasks come after theirs', async () => {
  const pool = poolOf({ stepMs: 60_000, taskMs: 60_000 })
  const done: string[] = []
  const run = (key: string, task: HelperTask, caller: string) =>
    pool.run(key, task, caller).then(
      () => void done.push(key),
      () => {},
    )
  void run('hangs', { do: 'hang' }, 'greedy')
  for (const key of ['g1', 'g2', 'g3']) void run(key, { do: 'hang' }, 'greedy')
  await run('answer', ANSWER, 'other')
  expect(done).toEqual(['answer'])
})

test('a spare process takes a task after a time, of another group than the one that hangs', async () => {
  const limits = { stepMs: 60_000, taskMs: 60_000, spareAfterMs: 200 }
  const pool = poolOf({ ...limits, groupOf: (task) => task.do })
  const pid = await pidOf(pool)
  expect(await pidOf(pool)).toBe(pid)
  const hanging = [1, 2, 3].map((i) => pool.run(`hangs ${i}`, { do: 'hang' }, 'a').catch(() => {}))
  const spare = await pidOf(pool)
  expect(spare).not.toBe(pid)
  expect(await pidOf(pool, 'b')).toBe(spare)
  pool.close()
  await Promise.all(hanging)
})

test('callers take turns, and a task that another caller waits for too comes in its turn', async () => {
  const pool = poolOf({ processes: 1, waiting: 20 })
  const done: string[] = []
  const run = (key: string, caller: string) => pool.run(key, ANSWER, caller).then(() => void done.push(key))
  const all = [...['a1', 'a2', 'a3', 'a4'].map((key) => run(key, 'a')), run('a4', 'c'), run('b1', 'b'), run('b2', 'b')]
  await Promise.all(all)
  expect(done.filter((key, i) => done.indexOf(key) === i)).toEqual(['a1', 'a2', 'a4', 'b1', 'a3', 'b2'])
})

test('one caller has at most half of the places for waiting tasks', async () => {
  const pool = poolOf({ processes: 1, waiting: 8 })
  const own = Array.from({ length: 6 }, (_, i) => pool.run(`a${i}`, ANSWER, 'a'))
  await expect(own[5]).rejects.toMatchObject({ name: 'PoolBusy' })
  expect(await pool.run('b', ANSWER, 'b')).toBeInstanceOf(Map)
  expect(await Promise.all(own.slice(0, 5))).toHaveLength(5)
})

test('tasks with the same key are done once', async () => {
  const pool = poolOf()
  const [one, two] = [pidOf(pool, 'a'), pidOf(pool, 'b')]
  expect(await one).toEqual(await two)
  expect(one).toBe(two)
})

test('a process that cannot start rejects its task, and does not wait for a time limit', async () => {
  const pool = poolOf({ module: new URL('file:///nowhere/module.js') })
  await expect(pool.run('a', ANSWER, 'a')).rejects.toThrow('cannot be started')
})

test('closing ends the processes and rejects what waits', async () => {
  const pool = poolOf()
  const pid = Number(await pidOf(pool))
  const hangs = pool.run('hangs', { do: 'hang' }, 'a')
  const waits = pool.run('waits', ANSWER, 'a')
  pool.close()
  await expect(hangs).rejects.toThrow('closed')
  await expect(waits).rejects.toThrow('closed')
  await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 20_000 }).toBe(false)
})
