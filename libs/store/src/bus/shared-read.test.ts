import { expect, test } from 'vitest'
import { SharedRead } from './shared-read.js'

const later = () => new Promise((resolve) => setImmediate(resolve))

test('all callers before the start of a read share it, and later callers get a later read', async () => {
  let begun = 0
  const ends: (() => void)[] = []
  const reads = new SharedRead(async () => {
    const own = ++begun
    await new Promise<void>((resolve) => ends.push(resolve))
    return own
  })
  const first = [reads.read(), reads.read()]
  await expect.poll(() => begun).toBe(1)
  const second = [reads.read(), reads.read(), reads.read()]
  await later()
  expect(begun).toBe(1)
  ends[0]?.()
  expect(await Promise.all(first)).toEqual([1, 1])
  await expect.poll(() => begun).toBe(2)
  ends[1]?.()
  expect(await Promise.all(second)).toEqual([2, 2, 2])
})

test('a failed read is not cached', async () => {
  let fails = true
  const reads = new SharedRead(async () => {
    if (fails) throw new Error('away')
    return 'back'
  })
  await expect(reads.read()).rejects.toThrow('away')
  fails = false
  expect(await reads.read()).toBe('back')
})

test('a hanging read does not prevent the next one', async () => {
  let begun = 0
  const reads = new SharedRead(() => (++begun === 1 ? new Promise<string>(() => {}) : Promise.resolve('read')))
  void reads.read()
  await expect.poll(() => begun).toBe(1)
  expect(await reads.read()).toBe('read')
})
