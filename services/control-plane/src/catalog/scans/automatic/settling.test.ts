import { expect, test } from 'vitest'
import { MAX_CHANGED, MAX_NOTIFICATIONS, Settling } from './settling.js'

test('a change is taken 2 s after the last one, once', () => {
  const settling = new Settling()
  expect(settling.take(0)).toBeNull()
  settling.noteChange('a', 1000)
  settling.noteChange('a', 2500)
  const times = [3000, 4499, 4500, 9000]
  expect(times.map((now) => settling.take(now))).toEqual([null, null, ['a'], null])
})

test('a file that grows is not taken before it stops, and delays no other one', () => {
  const settling = new Settling()
  settling.noteChange('renamed', 0)
  const taken: unknown[] = []
  for (let now = 0; now < 60_000; now += 500) {
    settling.noteChange('growing', now)
    const due = settling.take(now + 400)
    if (due !== null) taken.push([now, due])
  }
  expect(taken).toEqual([[2000, ['renamed']]])
  expect(settling.take(61_500)).toEqual(['growing'])
})

test('a folder is taken when nothing below it changes any more', () => {
  const settling = new Settling()
  settling.noteChange('world', 0)
  settling.noteChange('world-2', 1000)
  settling.noteChange('world/v2', 1500)
  expect([settling.take(2400), settling.take(3400), settling.take(13_400)]).toEqual([
    null,
    ['world-2'],
    ['world', 'world/v2'],
  ])
})

test('scans are at least 10 s apart', () => {
  const settling = new Settling()
  settling.noteChange('a', 0)
  expect(settling.take(2000)).toEqual(['a'])
  settling.noteChange('b', 3000)
  expect([settling.take(5000), settling.take(11_999), settling.take(12_000)]).toEqual([null, null, ['b']])
})

test.each([
  ['a change of anything', 1, () => null],
  ['changes of too many paths', MAX_CHANGED + 1, (i: number) => `${i}`],
  ['so many notifications that the kernel may have dropped some', MAX_NOTIFICATIONS + 1, () => 'a'],
])('after %s everything is scanned', (_, count, path) => {
  const settling = new Settling()
  for (let i = 0; i < count; i++) settling.noteChange(path(i), 0)
  expect([settling.take(1999), settling.take(2000), settling.take(20_000)]).toEqual([null, 'everything', null])
})

test('everything is scanned after a minute, though changes go on', () => {
  const settling = new Settling()
  settling.noteChange(null, 0)
  for (let now = 0; now <= 59_500; now += 500) {
    settling.noteChange('growing', now)
    expect(settling.take(now + 400)).toBeNull()
  }
  expect(settling.take(60_000)).toBe('everything')
})
