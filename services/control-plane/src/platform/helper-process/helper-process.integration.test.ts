import { afterEach, expect, test, vi } from 'vitest'
import { HelperProcess } from './helper-process.js'
import type { HelperTask } from './testing/misbehaving-helper.js'

const helper = new HelperProcess<HelperTask, unknown>(
  new URL('../../../dist/platform/helper-process/testing/misbehaving-helper.js', import.meta.url),
)
afterEach(() => helper.end())

const never = new AbortController().signal
const answers = () => helper.ask({ do: 'answer', with: new Map([['a', new Date(1)]]) }, never)

test('answers come back as they are, one after the other from one process', async () => {
  expect(await answers()).toEqual(new Map([['a', new Date(1)]]))
  expect(await answers()).toEqual(new Map([['a', new Date(1)]]))
})

test('a task that hangs is given up with the reason of the signal, and the next one is answered', async () => {
  const stop = new AbortController()
  const asked = helper.ask({ do: 'hang' }, stop.signal)
  stop.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await expect(helper.ask({ do: 'hang' }, stop.signal)).rejects.toThrow('enough')
  expect(await answers()).toBeInstanceOf(Map)
})

test('a task that throws, and a process that dies, reject with what happened; the next task is answered', async () => {
  await expect(helper.ask({ do: 'throw' }, never)).rejects.toThrow('no luck')
  expect(await answers()).toBeInstanceOf(Map)
  await expect(helper.ask({ do: 'die' }, never)).rejects.toThrow('the helper ended with SIGKILL')
  expect(await answers()).toBeInstanceOf(Map)
})

test('a helper that is ended rejects what it was asked', async () => {
  const asked = helper.ask({ do: 'hang' }, never)
  helper.end()
  await expect(asked).rejects.toThrow('the helper ended with SIGKILL')
})

test('progress is reported while a task works without a pause', async () => {
  const alive = vi.fn()
  expect(await helper.ask({ do: 'make progress', ms: 1500 }, never, alive)).toBe('done')
  expect(alive).toHaveBeenCalled()
})

test('a helper knows nothing of the environment', async () => {
  const names = (await helper.ask({ do: 'list the environment' }, never)) as string[]
  expect(names.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual([])
})
