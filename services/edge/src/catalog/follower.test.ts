import type { Change } from '@gateway/contracts/change.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { storedBasemap, storedVersion } from '../testing/stored-rows.js'
import { type FollowedStore, Follower } from './follower.js'

/** A change log and a catalog in memory, which can be out of reach. */
class FakeStore implements FollowedStore {
  revision = 0
  changes: Change[] = []
  basemaps: StoredBasemap[] = []
  down = false
  prunedBelow = 0
  reads: string[] = []

  commit(kind: Change['kind'], key: string): Change {
    const change = { revision: ++this.revision, kind, key }
    this.changes.push(change)
    return change
  }

  async currentRevision() {
    this.#reach('revision')
    return this.revision
  }

  async changesSince(revision: number) {
    this.#reach('log')
    const changes = this.changes.filter((change) => change.revision > revision && change.revision > this.prunedBelow)
    return changes.length === this.revision - revision
      ? { covered: true as const, changes, revision: this.revision }
      : { covered: false as const, revision: this.revision }
  }

  async readBasemaps(codes: readonly string[] | null) {
    this.#reach(codes === null ? 'all basemaps' : `basemaps ${codes.join()}`)
    return this.basemaps.filter((basemap) => codes === null || codes.includes(basemap.code))
  }

  async readVectors() {
    this.#reach('vectors')
    return []
  }

  #reach(what: string): void {
    if (this.down) throw new Error('out of reach')
    this.reads.push(what)
  }
}

let store: FakeStore
let now: number
let forgotten: string[]
let applied: number[]
let follower: Follower

beforeEach(async () => {
  store = new FakeStore()
  store.basemaps = [storedBasemap('world', [storedVersion('v1')])]
  now = 1_000
  forgotten = []
  applied = []
  const tokens = { invalidate: (digest: string) => forgotten.push(digest), invalidateAll: () => forgotten.push('*') }
  follower = new Follower(
    store,
    tokens,
    () => now,
    () => applied.push(follower.appliedRevision),
  )
  await follower.catchUp()
  store.reads = []
  forgotten = []
  applied = []
})

test('the first catch-up reads the revision before the rows, and everything', async () => {
  const fresh = new Follower(
    store,
    { invalidate() {}, invalidateAll() {} },
    () => now,
    () => {},
  )
  expect(fresh.loaded).toBe(false)
  await fresh.catchUp()
  expect(store.reads).toEqual(['revision', 'all basemaps', 'vectors'])
  expect(fresh.catalog.basemaps.has('world')).toBe(true)
})

describe('a message that carries its changes', () => {
  test('is applied at once where it follows on and tells of tokens alone', () => {
    const change = store.commit('token', 'aa')
    expect(follower.hear({ revision: 1, changes: [change] })).toBe(true)
    expect(forgotten).toEqual(['aa'])
    expect(follower.appliedRevision).toBe(1)
    expect(applied).toEqual([1])
    expect(store.reads).toEqual([])
  })

  test('forgets its tokens although the store is out of reach and a revision is missing', () => {
    store.down = true
    store.commit('basemap', 'world')
    const change = store.commit('token', 'bb')
    expect(follower.hear({ revision: 2, changes: [change] })).toBe(false)
    expect(forgotten).toEqual(['bb'])
    expect(follower.appliedRevision).toBe(0)
  })

  test('that came before is ignored', async () => {
    const change = store.commit('token', 'aa')
    await follower.catchUp()
    expect(follower.hear({ revision: 1, changes: [change] })).toBe(true)
    expect(follower.appliedRevision).toBe(1)
  })

  test('of a basemap needs the log, and its rows are read before the revision counts as applied', async () => {
    store.basemaps = [storedBasemap('world', [storedVersion('v1'), storedVersion('v2')])]
    const change = store.commit('basemap', 'world')
    expect(follower.hear({ revision: 1, changes: [change] })).toBe(false)
    await follower.catchUp()
    expect(store.reads).toEqual(['log', 'basemaps world'])
    expect(follower.catalog.basemaps.get('world')?.versions.has('v2')).toBe(true)
    expect(applied).toEqual([1])
  })
})

test('a message without its changes leaves the process behind until the log was read', async () => {
  store.commit('token', 'cc')
  now = 2_000
  expect(follower.hear({ revision: 1, changes: [] })).toBe(false)
  follower.noteBusAlive()
  expect(follower.knownCurrentAt).toBe(1_000)
  await follower.catchUp()
  expect(forgotten).toEqual(['cc'])
  now = 3_000
  follower.noteBusAlive()
  expect(follower.knownCurrentAt).toBe(3_000)
})

test('after a gap in the subscription a living bus proves nothing until the log was read', async () => {
  follower.noteGap()
  now = 2_000
  follower.noteBusAlive()
  expect(follower.knownCurrentAt).toBe(1_000)
  await follower.catchUp()
  now = 2_500
  follower.noteBusAlive()
  expect(follower.knownCurrentAt).toBe(2_500)
})

test('a log that no longer reaches back means flush and reload', async () => {
  store.commit('token', 'a')
  store.commit('token', 'b')
  store.prunedBelow = 1
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(store.reads).toEqual(['log', 'revision', 'all basemaps', 'vectors'])
  expect(follower.appliedRevision).toBe(2)
})

test('a store restored from a backup, behind this process, means flush and reload', async () => {
  store.commit('token', 'a')
  await follower.catchUp()
  store.revision = 0
  store.changes = []
  forgotten = []
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(follower.appliedRevision).toBe(0)
  now = 9_000
  follower.noteBusAlive()
  expect(follower.knownCurrentAt).toBe(9_000)
})

test('a store out of reach changes nothing, and the moment of the last certainty stays', async () => {
  store.commit('token', 'a')
  store.down = true
  now = 5_000
  await expect(follower.catchUp()).rejects.toThrow('out of reach')
  expect(follower.appliedRevision).toBe(0)
  expect(follower.knownCurrentAt).toBe(1_000)
  store.down = false
  await follower.catchUp()
  expect(forgotten).toEqual(['a'])
})

test('catch-ups that are asked for during one share a single further run', async () => {
  const runs = [follower.catchUp(), follower.catchUp(), follower.catchUp()]
  await Promise.all(runs)
  expect(store.reads.filter((read) => read === 'log')).toHaveLength(2)
})

test('what is certain dates from before the question, not from its answer', async () => {
  now = 2_000
  const asking = follower.catchUp()
  now = 2_900
  await asking
  expect(follower.knownCurrentAt).toBe(2_000)
})
