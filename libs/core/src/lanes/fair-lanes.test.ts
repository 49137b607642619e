import { expect, test } from 'vitest'
import { FairLanes, fairPlace, type Release } from './fair-lanes.js'

/** Enters lanes, and records in which order work begins. */
function recorded(lanes: FairLanes) {
  const begun: string[] = []
  const releases: Release[] = []
  const enter = (caller: string) => {
    const entered = lanes.enter(caller)
    void entered?.then((release) => {
      begun.push(caller)
      releases.push(release)
    })
    return entered !== null
  }
  /** Ends the work that began first, and waits until the next one has begun. */
  const end = async () => {
    releases.shift()?.()
    await Promise.resolve()
  }
  return { begun, enter, end }
}

test('a caller with much work does not delay the first of another caller by more than one piece', async () => {
  const { begun, enter, end } = recorded(new FairLanes(1, 20))
  for (const caller of ['a', 'a', 'a', 'a', 'b', 'c', 'b']) expect(enter(caller)).toBe(true)
  await Promise.resolve()
  for (let i = 0; i < 7; i++) await end()
  expect(begun.join('')).toBe('aabcaba')
})

test('a caller has at most half of the lanes and of the places, and the others get the rest', async () => {
  const lanes = new FairLanes(4, 4)
  const { begun, enter, end } = recorded(lanes)
  expect(['a', 'a', 'a', 'a', 'a'].map(enter)).toEqual([true, true, true, true, false])
  expect(['b', 'b', 'b', 'c', 'c'].map(enter)).toEqual([true, true, true, true, false])
  await Promise.resolve()
  expect(begun.join('')).toBe('aabb')
  await end()
  expect(begun.join('')).toBe('aabba')
})

test('without places, work that finds no lane is refused, and a lane that is left twice is free once', async () => {
  const lanes = new FairLanes(2, 0)
  const first = await lanes.enter('a')
  expect(lanes.enter('a')).toBeNull()
  const other = await lanes.enter('b')
  expect(lanes.enter('c')).toBeNull()
  first?.()
  first?.()
  expect(lanes.enter('c')).not.toBeNull()
  expect(lanes.enter('d')).toBeNull()
  other?.()
})

test('work that has begun keeps its place', () => {
  const queue = ['a', 'a', 'a'].map((caller, i) => ({ caller, isMovable: i === 2 }))
  expect(fairPlace(queue, 'b', ({ isMovable }) => isMovable)).toBe(2)
  expect(fairPlace(queue, 'b')).toBe(1)
})
