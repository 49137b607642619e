import { expect, test } from 'vitest'
import { Settling } from './settling.js'

test('a change is reported once, 2 s after the last one', () => {
  const settling = new Settling()
  expect(settling.take(0)).toBe(false)
  settling.noteChange(1000)
  settling.noteChange(2500)
  expect([settling.take(3000), settling.take(4499), settling.take(4500), settling.take(9000)]).toEqual([
    false,
    false,
    true,
    false,
  ])
})

test('a growing file is not reported before it stops', () => {
  const settling = new Settling()
  for (let now = 0; now < 60_000; now += 500) {
    settling.noteChange(now)
    expect(settling.take(now + 400)).toBe(false)
  }
  expect(settling.take(61_500)).toBe(true)
})

test('scans are at least 10 s apart', () => {
  const settling = new Settling()
  settling.noteChange(0)
  expect(settling.take(2000)).toBe(true)
  settling.noteChange(3000)
  expect([settling.take(5000), settling.dueAt, settling.take(12_000)]).toEqual([false, 12_000, true])
})
