import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DerivedStore } from './derived-store.js'

let folder: string
let store: DerivedStore
let made: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'derived-'))
  store = new DerivedStore(folder, 1_000_000)
  made = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Makes a folder with one file, as conversions do. */
async function make(target: string) {
  made++
  await fill(target)
  return { made: true, tiles: null } as const
}

async function fill(target: string): Promise<void> {
  await mkdir(target)
  await writeFile(join(target, 'data'), 'content')
}

const lock = () => join(folder, 'towns.lock')
const read = () => readFileSync(join(folder, 'towns/data'), 'utf8')

/** Longer than the interval at which a lock is looked at. */
const SEVERAL_LOOKS_MS = 500

test('a name is made once for all callers, and found afterwards', async () => {
  const both = await Promise.all([store.get('towns', 'towns', make), store.get('towns', 'towns', make)])
  const later = await new DerivedStore(folder, 1_000_000).get('towns', 'towns', make)
  for (const derived of [...both, later]) expect(derived).toEqual({ made: true, path: join(folder, 'towns') })
  expect([made, read()]).toEqual([1, 'content'])
})

test('what another process makes is waited for, and used', async () => {
  // A process that lives, and is not this one.
  writeFileSync(lock(), '1')
  const getting = store.get('towns', 'towns', make)
  await sleep(SEVERAL_LOOKS_MS)
  await fill(join(folder, 'towns'))
  expect(await getting).toMatchObject({ made: true })
  expect(made).toBe(0)
})

test('a lock that its process has not filled yet is respected', async () => {
  writeFileSync(lock(), '')
  const getting = store.get('towns', 'towns', make)
  await sleep(SEVERAL_LOOKS_MS)
  expect(made).toBe(0)
  rmSync(lock())
  expect(await getting).toMatchObject({ made: true })
})

test.each([
  ['of a process that has ended', '999999999'],
  ['that stays without content', ''],
])('a lock %s is free', async (_, content) => {
  writeFileSync(lock(), content)
  utimesSync(lock(), 1, 1)
  expect(await store.get('towns', 'towns', make)).toMatchObject({ made: true })
})

test('a folder that another process has made at the same time is used, and nothing is left over', async () => {
  const derived = await store.get('towns', 'towns', async (target) => {
    await fill(join(folder, 'towns'))
    return make(target)
  })
  expect([derived, read()]).toEqual([{ made: true, path: join(folder, 'towns') }, 'content'])
  expect(await store.get('towns', 'towns', make)).toMatchObject({ made: true })
  expect(made).toBe(1)
})

test('a source that takes long holds up itself only', async () => {
  store = new DerivedStore(folder, 1_000_000, 1)
  const ends: (() => void)[] = []
  const hang = async () => {
    await new Promise<void>((resolve) => ends.push(resolve))
    return {
      made: false,
      why: 'fault',
      message: 'the limit is met',
      said: { code: 'vector_limit_time', params: {} },
    } as const
  }
  const hanging = [store.get('a-1', 'a', hang), store.get('a-2', 'a', hang), store.get('b', 'b', hang)]
  expect(await store.get('towns', 'towns', make)).toMatchObject({ made: true })
  expect(ends).toHaveLength(2)
  for (const end of ends.splice(0)) end()
  await expect.poll(() => ends.length).toBe(1)
  ends[0]?.()
  expect((await Promise.all(hanging)).map((one) => !one.made && one.why)).toEqual(['fault', 'fault', 'fault'])
})

test('conversions that are short run one after the other', async () => {
  let running = 0
  const alone = async (target: string) => {
    expect(++running).toBe(1)
    await fill(target)
    running--
    return { made: true, tiles: null } as const
  }
  const all = await Promise.all(['a', 'b', 'c'].map((name) => store.get(name, name, alone)))
  expect(all.map(({ made }) => made)).toEqual([true, true, true])
})
