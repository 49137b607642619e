import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { LookUps } from './resolve.js'

const lookUps = new LookUps()
afterEach(async () => {
  lookUps.end()
  await expect.poll(helpers).toEqual([])
})

/** Returns the resolver's processes among the children of this one. */
function helpers(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('look-up-process')
    } catch {
      return false
    }
  })
}

test('a name resolves to the system’s addresses, by one process for all look-ups', async () => {
  const expected = await lookup('localhost', { all: true, order: 'verbatim' })
  expect(await Promise.all([lookUps.resolve('localhost'), lookUps.resolve('localhost')])).toEqual([expected, expected])
  expect(await lookUps.resolve('LOCALHOST')).toEqual(expected)
  expect(helpers()).toHaveLength(1)
})

test('a name that does not resolve rejects like the system’s look-up', async () => {
  const name = 'no label may be as long as this one is, which has more than sixty-three letters.invalid'
  const rejected = (error: NodeJS.ErrnoException) => error.code
  const expected = await lookup(name, { all: true }).catch(rejected)
  expect(await lookUps.resolve(name).catch(rejected)).toBe(expected)
  expect(expected).toEqual(expect.any(String))
})

test('pending look-ups of a process that dies are resolved without it, and the next name by another process', async () => {
  await lookUps.resolve('localhost')
  const [first] = helpers()
  const asked = lookUps.resolve('localhost')
  process.kill(first as number, 'SIGKILL')
  expect(await asked).not.toEqual([])
  await expect.poll(helpers).toEqual([])
  expect(await lookUps.resolve('localhost')).not.toEqual([])
  expect(helpers()).not.toContain(first)
})

test('look-ups still complete if the process cannot start its threads, or is killed', async () => {
  const asked = lookUps.resolve('localhost')
  lookUps.end()
  expect(await asked).not.toEqual([])
})
