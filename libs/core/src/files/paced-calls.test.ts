import { afterEach, expect, test } from 'vitest'
import { blockWhileFast, fileCall } from './paced-calls.js'

// Other files of tests run in this process.
afterEach(() => blockWhileFast(false))

const calls = (now: () => void = () => {}) =>
  fileCall(
    () => {
      now()
      return 'blocked'
    },
    async () => 'through threads',
  )

/** Takes longer than a fast call. */
function slowly(): void {
  const until = performance.now() + 2
  while (performance.now() < until);
}

test('calls go through threads in a process that must not block', async () => {
  expect(await calls()).toBe('through threads')
})

test('a process that may block makes fast calls itself, even if a busy machine delays some', async () => {
  blockWhileFast()
  for (let i = 0; i < 60; i++) expect(await calls(i % 4 === 0 ? slowly : undefined)).toBe('blocked')
})

test('calls go through threads once most of them were slow', async () => {
  blockWhileFast()
  const made: string[] = []
  for (let i = 0; i < 40; i++) made.push(await calls(slowly))
  expect(new Set(made.slice(0, 16))).toEqual(new Set(['blocked']))
  expect(new Set(made.slice(16))).toEqual(new Set(['through threads']))
})

test('an error of a call that blocks is a rejection of its caller', async () => {
  blockWhileFast()
  const caller = async () =>
    await fileCall(
      () => {
        throw new Error('gone')
      },
      async () => {},
    )
  await expect(caller()).rejects.toThrow('gone')
})
