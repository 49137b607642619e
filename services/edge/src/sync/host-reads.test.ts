import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test, vi } from 'vitest'
import { memoryReader } from '../testing/memory-reader.js'
import type { What } from './catalog-reader.js'
import { HostReader, HostReads, type ReadAnswer } from './host-reads.js'

const STATE = { revision: 1, mark: 'mark 1', epoch: '' }
const ROWS = [storedBasemap('world', [storedVersion('v1')])]

function host() {
  const reads: What[] = []
  const trouble = { down: false }
  const memory = {
    state: () => STATE,
    changes: () => ({ covered: true as const, changes: [], state: STATE }),
    basemaps: () => ROWS,
  }
  const store = memoryReader(memory, undefined, (what) => {
    reads.push(what)
    if (trouble.down) throw Object.assign(new Error('out of reach'), { code: 'ECONNREFUSED' })
  })
  return { reads, trouble, store, shared: new HostReads(store) }
}

/** A worker whose messages may or may not reach the supervisor. */
function worker({ shared, store }: ReturnType<typeof host>, reaches: () => boolean = () => true) {
  const own: What[] = []
  const ownReader = {
    read: ((what, about, notBefore) => {
      own.push(what)
      return store.read(what, about, notBefore)
    }) as typeof store.read,
  }
  const reader: HostReader = new HostReader(ownReader, (wanted) => {
    if (reaches()) void shared.answer(wanted).then((answer: ReadAnswer) => reader.hear(answer))
  })
  return { reader, own }
}

test('workers with equal requests share a query, unless it is older than one of them allows', async () => {
  const h = host()
  const workers = Array.from({ length: 5 }, () => worker(h).reader)
  const since = performance.now()
  const answers = await Promise.all(workers.map((reader) => reader.read('basemaps', ['world'], since)))
  expect(h.reads).toEqual(['basemaps'])
  for (const { value, askedAt } of answers) {
    expect(value).toEqual(ROWS)
    expect(askedAt).toBeGreaterThanOrEqual(since - 1)
  }
  await workers[0]?.read('basemaps', ['world'], performance.now())
  expect(h.reads).toEqual(['basemaps', 'basemaps'])
})

test('an error is not cached, and if errors persist a worker reads itself', async () => {
  const h = host()
  const { reader, own } = worker(h)
  h.trouble.down = true
  await expect(reader.read('state', null, 0)).rejects.toMatchObject({ message: 'out of reach', code: 'ECONNREFUSED' })
  expect(own).toEqual([])
  await expect(reader.read('state', null, 0)).rejects.toThrow('out of reach')
  expect(own).toEqual(['state'])
  h.trouble.down = false
  expect((await reader.read('state', null, 0)).value).toEqual(STATE)
  expect(own).toEqual(['state', 'state'])
})

test('a supervisor that does not answer is not asked for a while, and then again', async () => {
  vi.useFakeTimers()
  try {
    const h = host()
    let reaches = false
    const { reader, own } = worker(h, () => reaches)
    const reading = reader.read('state', null, 0)
    await vi.advanceTimersByTimeAsync(4_500)
    expect((await reading).value).toEqual(STATE)
    reaches = true
    await reader.read('state', null, 0)
    expect(own).toEqual(['state', 'state'])
    await vi.advanceTimersByTimeAsync(6_000)
    await reader.read('state', null, 0)
    expect(own).toEqual(['state', 'state'])
  } finally {
    vi.useRealTimers()
  }
})
