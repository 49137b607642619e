import { expect, test } from 'vitest'
import { type Due, MAX_CHANGED, MAX_NOTIFICATIONS, Settling } from './settling.js'

/** Takes what is due, and returns it. */
function take(settling: Settling, now: number): Due | null {
  const due = settling.due(now)
  if (due !== null) settling.taken(due, now)
  return due
}

test('a change is reported once, 2 s after the last one', () => {
  const settling = new Settling()
  expect(take(settling, 0)).toBeNull()
  settling.noteChange('a', 1000)
  settling.noteChange('a', 2500)
  const times = [3000, 4499, 4500, 9000]
  expect(times.map((now) => take(settling, now))).toEqual([null, null, ['a'], null])
})

test('a file that grows is not taken before it stops, and delays no other one', () => {
  const settling = new Settling()
  settling.noteChange('renamed', 0)
  const taken: unknown[] = []
  for (let now = 0; now < 60_000; now += 500) {
    settling.noteChange('growing', now)
    const due = take(settling, now + 400)
    if (due !== null) taken.push([now, due])
  }
  expect(taken).toEqual([[2000, ['renamed']]])
  expect(take(settling, 61_500)).toEqual(['growing'])
})

test('a folder is taken when nothing below it changes any more', () => {
  const settling = new Settling()
  settling.noteChange('world', 0)
  settling.noteChange('world-2', 1000)
  settling.noteChange('world/v2', 1500)
  expect([take(settling, 2400), take(settling, 3400), take(settling, 13_400)]).toEqual([
    null,
    ['world-2'],
    ['world', 'world/v2'],
  ])
})

test('scans are at least 10 s apart', () => {
  const settling = new Settling()
  settling.noteChange('a', 0)
  expect(take(settling, 2000)).toEqual(['a'])
  settling.noteChange('b', 3000)
  expect([take(settling, 5000), take(settling, 11_999), take(settling, 12_000)]).toEqual([null, null, ['b']])
})

test.each([
  ['a change of anything', 1, () => null],
  ['changes of too many paths', MAX_CHANGED + 1, (i: number) => `${i}`],
  ['so many notifications that the kernel may have dropped some', MAX_NOTIFICATIONS + 1, () => 'a'],
])('after %s everything is scanned', (_, count, path) => {
  const settling = new Settling()
  for (let i = 0; i < count; i++) settling.noteChange(path(i), 0)
  expect([take(settling, 1999), take(settling, 2000), take(settling, 20_000)]).toEqual([null, 'everything', null])
})

test('everything waits until nothing changes, and what has settled is scanned meanwhile', () => {
  const settling = new Settling()
  settling.noteChange(null, 0)
  settling.noteChange('renamed', 0)
  const taken: unknown[] = []
  for (let now = 0; now < 120_000; now += 500) {
    settling.noteChange('growing', now)
    const due = take(settling, now + 400)
    if (due !== null) taken.push(due)
  }
  expect(taken).toEqual([['renamed']])
  expect(take(settling, 121_500)).toBe('everything')
})

test('everything is due at once when a watch begins', () => {
  const settling = new Settling()
  settling.begin()
  expect([take(settling, 0), take(settling, 20_000)]).toEqual(['everything', null])
})
