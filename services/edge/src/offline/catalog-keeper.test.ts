import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import type { ChangesSince } from '@gateway/store/change-log.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import type * as tokensOfStore from '@gateway/store/tokens.js'
import type { StoredToken, UsablePage } from '@gateway/store/tokens.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CatalogReader } from '../sync/catalog-reader.js'
import type { StoreLink } from '../sync/store-link.js'
import { memoryReader } from '../testing/memory-reader.js'
import { CatalogKeeper } from './catalog-keeper.js'
import { KeptFile } from './kept-file.js'
import { readRows } from './kept-rows.js'

/** Replaces the store by one that hangs, like a network that drops packets, or fails. */
const store = vi.hoisted(() => ({
  /** Returns a page of tokens; `after` is null for the first. */
  page: async (_after: unknown): Promise<UsablePage> => ({ tokens: [], next: null }),
  find: (_digest: string): boolean => true,
}))
vi.mock('@gateway/store/tokens.js', async (original) => ({
  ...(await original<typeof tokensOfStore>()),
  readUsableTokens: (_: unknown, after: unknown) => store.page(after),
  findTokensByDigest: async (_: unknown, digests: readonly Buffer[]) =>
    digests
      .map((digest) => digest.toString('hex'))
      .filter(store.find)
      .map(token),
}))

const STATE = { revision: 1, mark: 'm', epoch: 'e' }
const token = (digest: string) => ({ digest, disabled_at: null, expires_at: null }) as StoredToken
const NEXT = { usedAt: '-infinity', id: 'aa' }

let folder: string
let file: KeptFile
let hangs: boolean
let fails: boolean
let asked: number
let stateReads: number
let lines: string[]
let changes: ChangesSince
let keeper: CatalogKeeper

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keeper-'))
  file = new KeptFile(folder, 'postgres://gateway:secret@db/gateway', '1')
  hangs = false
  fails = false
  asked = 0
  stateReads = 0
  lines = []
  changes = { covered: true, changes: [], state: STATE }
  store.page = async () => ({ tokens: [token('aa'), token('bb')], next: null })
  store.find = () => true
  const memory = memoryReader({ state: () => STATE, changes: () => changes, basemaps: () => [] })
  const reader: CatalogReader = {
    read: async (what, about, notBefore) => {
      asked++
      if (what === 'state') stateReads++
      if (fails) throw new Error('away')
      return hangs ? new Promise(() => {}) : memory.read(what, about, notBefore)
    },
  }
  const query = async (run: (sql: null) => unknown) =>
    (run as unknown) === readInstanceKeys ? { instanceId: 'i' } : run(null)
  const note = (_: unknown, line?: string) => void lines.push(line ?? String(_))
  const log = { ...createLog('test', 'silent'), warn: note, info: note } as unknown as Log
  keeper = new CatalogKeeper({ file, reader, store: { query } as unknown as StoreLink, trustMs: 50, log })
})
afterEach(async () => {
  await keeper.stop()
  rmSync(folder, { recursive: true })
})

const kept = async () => {
  const read = await file.read()
  return read === null ? null : readRows(read.content).tokens.map(({ digest }) => digest)
}

/** Makes the next reading hang, and everything after it wait. */
async function hang(): Promise<void> {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  hangs = true
  const before = asked
  await expect.poll(() => asked).toBeGreaterThan(before)
}

test('a token that is forgotten while the store hangs is in no file after the end of the keeper', async () => {
  await hang()
  keeper.forgetToken('aa')
  await keeper.stop()
  expect(await kept()).toBeNull()
})

test('a keeper that stops while the store hangs keeps its file', async () => {
  await hang()
  await keeper.stop()
  expect(await kept()).toEqual(['aa', 'bb'])
})

test('a failed reading continues with the page that failed', async () => {
  const pages: unknown[] = []
  let left = 2
  store.page = async (after) => {
    pages.push(after)
    if (after === null) return { tokens: [token('aa')], next: NEXT }
    if (left-- > 0) throw new Error('late')
    return { tokens: [token('bb')], next: null }
  }
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  // The first page once, the second until it succeeds, and the first again for tokens used meanwhile.
  expect(pages).toEqual([null, NEXT, NEXT, NEXT, null])
  expect(stateReads).toBe(1)
})

test('a token that is forgotten after its page was read is not kept', async () => {
  store.find = (digest) => digest !== 'aa'
  store.page = async (after) => {
    if (after === null) return { tokens: [token('aa')], next: NEXT }
    keeper.forgetToken('aa')
    return { tokens: [token('bb')], next: null }
  }
  keeper.start()
  await expect.poll(kept).toEqual(['bb'])
})

test('if all tokens are forgotten during a reading, they are read again', async () => {
  let forgets = true
  store.page = async () => {
    if (!forgets) return { tokens: [token('bb')], next: null }
    forgets = false
    keeper.forgetToken(null)
    return { tokens: [token('aa')], next: null }
  }
  keeper.start()
  await expect.poll(kept).toEqual(['bb'])
  expect(stateReads).toBe(2)
})

test('a failure to follow the store is logged once, as is its end; the age grows meanwhile', async () => {
  fails = true
  keeper.start()
  await expect.poll(() => asked).toBeGreaterThan(3)
  const age = keeper.ageMs
  await expect.poll(() => keeper.ageMs).toBeGreaterThan(age)
  fails = false
  await expect.poll(kept).toEqual(['aa', 'bb'])
  expect(lines).toEqual([
    'the catalog kept on disk does not follow the store',
    'the catalog kept on disk follows the store again',
  ])
  const before = asked
  await expect.poll(() => asked).toBeGreaterThan(before + 1)
  // The age is that of the last written state, not the time since the start.
  await expect.poll(() => keeper.ageMs).toBeLessThan(age)
})

const rowsFile = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.rows')) as string)

test('a token that is forgotten is appended to the file, and is not read from it', async () => {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  const { ino } = statSync(rowsFile())
  store.find = (digest) => digest !== 'aa'
  keeper.forgetToken('aa')
  await expect.poll(kept).toEqual(['bb'])
  expect(statSync(rowsFile()).ino).toBe(ino)
})

test('a token that is forgotten during a write that ends after the stop began is in no file', async () => {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const append = file.append.bind(file)
  const begun = vi.fn()
  let ended = false
  file.append = async (...args) => {
    begun()
    await held
    await append(...args)
    ended = true
  }
  await expect.poll(() => begun.mock.calls.length).toBe(1)
  keeper.forgetToken('aa')
  const stopped = keeper.stop()
  setImmediate(goOn)
  await stopped
  // The process ends now.
  expect(ended).toBe(true)
  expect(await kept()).toBeNull()
})

test('on a full disk a forgotten token is in no file', async () => {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  store.find = (digest) => digest !== 'aa'
  fails = true
  // A write in progress would fail without its file, and the next one would create another file.
  await expect.poll(() => lines).toContain('the catalog kept on disk does not follow the store')
  const rows = rowsFile()
  rmSync(rows)
  symlinkSync('/dev/full', rows)
  keeper.forgetToken('aa')
  await expect.poll(() => lines).toContain('the catalog cannot be kept on disk for a start without the store')
  expect(readdirSync(folder)).not.toContain('stamp')
  fails = false
  await expect.poll(kept).toEqual(['bb'])
  expect(lines).toContain('the catalog is kept on disk again')
})

test('on a full disk a token that the keeper has read as disabled, before any process forgot it, is in no file', async () => {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  const full = () => Promise.reject(new Error('ENOSPC: no space left on device, write'))
  Object.assign(file, { append: full, write: full })
  store.find = (digest) => digest !== 'aa'
  changes = { covered: true, changes: [{ revision: 2, kind: 'token', key: 'aa' }], state: { ...STATE, revision: 2 } }
  await expect.poll(() => readdirSync(folder)).not.toContain('stamp')
  keeper.forgetToken('aa')
  await expect.poll(() => lines).toContain('the catalog cannot be kept on disk for a start without the store')
})
