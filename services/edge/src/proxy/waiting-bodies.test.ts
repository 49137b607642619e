import { afterEach, expect, test, vi } from 'vitest'
import { WaitingBodies, type WaitingBody } from './waiting-bodies.js'

afterEach(() => void vi.useRealTimers())

class Body implements WaitingBody {
  bytes = 0
  kept = 0
  gone = false
  keepWaiting() {
    this.kept++
  }
  giveWay() {
    this.gone = true
  }
}

test('with too many bodies the oldest is dropped', () => {
  const waiting = new WaitingBodies({ bodies: 2, bytes: 100, withinMs: 1_000 })
  const [a, b, c] = [new Body(), new Body(), new Body()]
  for (const body of [a, b, c]) waiting.add(body)
  expect([a.gone, b.gone, c.gone, waiting.size]).toEqual([true, false, false, 2])
  waiting.forget(b)
  waiting.forget(c)
})

test('with too many bytes the oldest is dropped, and completed bodies do not count', () => {
  const waiting = new WaitingBodies({ bodies: 9, bytes: 100, withinMs: 1_000 })
  const [a, b, c] = [new Body(), new Body(), new Body()]
  const grow = (body: Body, bytes: number) => {
    body.bytes += bytes
    waiting.grown(body, bytes)
  }
  for (const body of [a, b, c]) waiting.add(body)
  grow(a, 60)
  waiting.forget(a)
  grow(b, 40)
  grow(c, 60)
  expect([a.gone, b.gone, c.gone]).toEqual([false, false, false])
  grow(c, 1)
  expect([b.gone, c.gone]).toEqual([true, false])
  waiting.forget(c)
  expect(waiting.size).toBe(0)
})

test('a body that takes too long is dropped; until then its connection is kept', () => {
  vi.useFakeTimers()
  const waiting = new WaitingBodies({ bodies: 9, bytes: 100, withinMs: 30_000 })
  const body = new Body()
  waiting.add(body)
  vi.advanceTimersByTime(30_000)
  expect(body.gone).toBe(false)
  expect(body.kept).toBe(10)
  vi.advanceTimersByTime(3_000)
  expect([body.gone, waiting.size, vi.getTimerCount()]).toEqual([true, 0, 0])
})
