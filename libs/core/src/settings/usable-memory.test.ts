import { expect, test } from 'vitest'
import { usableMemory } from './usable-memory.js'

const TOTAL = 8 * 2 ** 30

test.each([
  ['no limit', 0, TOTAL],
  ['an unknown limit', undefined, TOTAL],
  ['the largest number of 64 bits, as libuv says "none"', 2 ** 64, TOTAL],
  ['a cgroup of 512 MiB', 2 ** 29, 2 ** 29],
])('with %s', (_name, limit, usable) => {
  expect(usableMemory(limit, TOTAL)).toBe(usable)
})

test('the usable memory is positive, and at most the memory of the machine', () => {
  expect(usableMemory()).toBeGreaterThan(2 ** 20)
  expect(usableMemory()).toBe(usableMemory(usableMemory()))
})
