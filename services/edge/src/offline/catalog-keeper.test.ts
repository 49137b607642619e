import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@gateway/logging/log.js'
import type { ChangesSince } from '@gateway/store/change-log.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import type { StoredToken } from '@gateway/store/tokens.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CatalogReader } from '../sync/catalog-reader.js'
import type { StoreLink } from '../sync/store-link.js'
import { memoryReader } from '../testing/memory-reader.js'
import { CatalogKeeper } from './catalog-keeper.js'
import { KeptFile } from './kept-file.js'
import { readRows } from './kept-rows.js'

const STATE = { revision: 1, mark: 'm', epoch: 'e' }
const token = (digest: string) => ({ digest, disabled_at: null, expires_at: null }) as StoredToken

let folder: string
let file: KeptFile
let hangs: boolean
let asked: number
let keeper: CatalogKeeper

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keeper-'))
  file = new KeptFile(folder, 'postgres://gateway:secret@db/gateway', '1')
  hangs = false
  asked = 0
  const rows = {
    state: () => STATE,
    changes: (): ChangesSince => ({ covered: true, changes: [], state: STATE }),
    basemaps: () => [],
  }
  const memory = memoryReader(rows)
  const reader: CatalogReader = {
    read: (what, about, notBefore) => {
      asked++
      return hangs ? new Promise(() => {}) : memory.read(what, about, notBefore)
    },
  }
  // The seam: a store that hangs, as a network that swallows packets makes it.
  const query = async (run: unknown) => (run === readInstanceKeys ? { instanceId: 'i' } : [token('aa'), token('bb')])
  const store = { query } as unknown as StoreLink
  keeper = new CatalogKeeper({ file, reader, store, trustMs: 50, log: createLog('test', 'silent') })
})
afterEach(async () => {
  await keeper.stop()
  rmSync(folder, { recursive: true })
})

const kept = async () => {
  const read = await file.read()
  return read === null ? null : readRows(read.content).tokens.map(({ digest }) => digest)
}

/** The next reading hangs, and everything after it waits. */
async function hang(): Promise<void> {
  keeper.start()
  await expect.poll(kept).toEqual(['aa', 'bb'])
  hangs = true
  const before = asked
  await expect.poll(() => asked).toBeGreaterThan(before)
}

test('a token that is forgotten while the store hangs is in no file that outlives the keeper', async () => {
  await hang()
  keeper.forgetToken('aa')
  await keeper.stop()
  expect(await kept()).toBeNull()
})

test('a keeper that stops while the store hangs leaves what it kept', async () => {
  await hang()
  await keeper.stop()
  expect(await kept()).toEqual(['aa', 'bb'])
})
