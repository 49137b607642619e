import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { HelperProcess } from './helper-process.js'
import type { HelperTask } from './testing/misbehaving-helper.js'

const helper = new HelperProcess<HelperTask, unknown>(
  new URL('../../dist/processes/testing/misbehaving-helper.js', import.meta.url),
)
afterEach(() => helper.end())

const never = new AbortController().signal
const answers = () => helper.ask({ do: 'answer', with: new Map([['a', new Date(1)]]) }, never)

test('results are returned unchanged, in sequence from one process', async () => {
  expect(await answers()).toEqual(new Map([['a', new Date(1)]]))
  expect(await answers()).toEqual(new Map([['a', new Date(1)]]))
})

test('a hanging task rejects with the reason of the signal, and the next one completes', async () => {
  const stop = new AbortController()
  const asked = helper.ask({ do: 'hang' }, stop.signal)
  stop.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await expect(helper.ask({ do: 'hang' }, stop.signal)).rejects.toThrow('enough')
  expect(await answers()).toBeInstanceOf(Map)
})

test('a task that throws, and a process that dies, reject with the error; the next task completes', async () => {
  await expect(helper.ask({ do: 'throw' }, never)).rejects.toThrow('no luck')
  expect(await answers()).toBeInstanceOf(Map)
  await expect(helper.ask({ do: 'die' }, never)).rejects.toThrow('the helper ended with SIGKILL')
  expect(await answers()).toBeInstanceOf(Map)
})

test('a helper that is ended rejects its pending task', async () => {
  const asked = helper.ask({ do: 'hang' }, never)
  helper.end()
  await expect(asked).rejects.toThrow('the helper ended with SIGKILL')
})

test('a helper whose end is not yet known rejects its next task like any other that ends', async () => {
  await answers()
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const pid = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('misbehaving-helper'))
  process.kill(Number(pid), 'SIGKILL')
  // The event loop does not turn meanwhile, so the end is not reported before the task is sent.
  while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) {}
  await expect(answers()).rejects.toThrow('the helper ended with SIGKILL')
  expect(await answers()).toBeInstanceOf(Map)
})

test('progress is reported during a task without pauses', async () => {
  const alive = vi.fn()
  expect(await helper.ask({ do: 'make progress', ms: 1500 }, never, alive)).toBe('done')
  expect(alive).toHaveBeenCalled()
})

test('a helper does not get the environment', async () => {
  const names = (await helper.ask({ do: 'list the environment' }, never)) as string[]
  expect(names.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual([])
})
