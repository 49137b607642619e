import { expect, test } from 'vitest'
import { readAhead } from './read-ahead.js'

test('items are read several at a time, and returned in their order', async () => {
  const ends: ((value: string) => void)[] = []
  const next = readAhead(['a', 'b', 'c', 'd'], 2, (item) => new Promise((resolve) => ends.push(() => resolve(item))))
  const first = next()
  expect(ends.length).toBe(2)
  ends[1]?.('')
  ends[0]?.('')
  expect(await first).toBe('a')
  expect(await next()).toBe('b')
  expect(ends.length).toBe(3)
})

test('a failure affects only its own item', async () => {
  const next = readAhead([1, 2, 3], 3, async (item) => {
    if (item === 2) throw new Error('two')
    return item
  })
  expect(await next()).toBe(1)
  await expect(next()).rejects.toThrow('two')
  expect(await next()).toBe(3)
})
