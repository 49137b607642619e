import type { Change, LoggedChange } from '@gateway/contracts/change.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { memoryReader } from '../testing/memory-reader.js'
import { PAGE_ROWS } from './catalog-reader.js'
import { CatalogReplica } from './catalog-replica.js'

/** A change log and a catalog in memory, which can be unreachable. */
class FakeStore {
  mark = 'mark 0'
  epoch = 'epoch'
  revision = 0
  log: LoggedChange[] = []
  rows: StoredBasemap[] = []
  down = false
  prunedBelow = 0
  reads: string[] = []
  beforeRead: (what: string) => void = () => {}

  commit(kind: Change['kind'], key: string): LoggedChange {
    const previousMark = this.mark
    this.mark = `mark ${Math.random()}`
    const change = { revision: ++this.revision, kind, key, mark: this.mark, previousMark }
    this.log.push(change)
    return change
  }

  state() {
    return { revision: this.revision, mark: this.mark, epoch: this.epoch }
  }

  changes(known: ReturnType<FakeStore['state']>) {
    const changes = this.log.filter((change) => change.revision > known.revision && change.revision > this.prunedBelow)
    const covered =
      changes.length === this.revision - known.revision &&
      (changes[0]?.previousMark ?? this.mark) === known.mark &&
      this.epoch === known.epoch
    return covered ? { covered, changes, state: this.state() } : { covered, state: this.state() }
  }

  basemaps() {
    return this.rows
  }

  reader = memoryReader(
    this,
    () => now,
    (what, about) => {
      if (this.down) throw new Error('out of reach')
      this.beforeRead(what)
      this.reads.push(what === 'basemaps' ? `basemaps ${about}` : what)
    },
  )
}

/** Returns the bus message of a commit. */
const saying = (change: LoggedChange, changes: readonly Change[] = [change]) => ({ ...change, changes })

let store: FakeStore
let now: number
let forgotten: string[]
let applied: number[]
let follower: CatalogReplica

function follow(): CatalogReplica {
  const tokens = { invalidate: (digest: string) => forgotten.push(digest), invalidateAll: () => forgotten.push('*') }
  return new CatalogReplica(
    store.reader,
    tokens,
    () => now,
    () => applied.push(follower.appliedRevision),
  )
}

beforeEach(async () => {
  store = new FakeStore()
  store.rows = [storedBasemap('world', [storedVersion('v1')])]
  now = 1_000
  forgotten = []
  applied = []
  follower = follow()
  await follower.catchUp()
  store.reads = []
  forgotten = []
  applied = []
})

const EVERYTHING = ['signingSecrets', 'basemapSizes', 'basemaps world', 'vectorSizes', 'styleSizes', 'fonts']

test('all basemaps are read again if the log says so, and tokens stay', async () => {
  store.rows = [storedBasemap('world', [storedVersion('v1', { scannedAt: new Date(1) })])]
  store.commit('basemap', '*')
  await follower.catchUp()
  expect(store.reads).toEqual(['changes', 'basemapSizes', 'basemaps world'])
  expect(follower.catalog.basemaps.get('world')?.stored.versions[0]?.scannedAt).toEqual(new Date(1))
  expect(forgotten).toEqual([])
})

test('the keys of signed URLs are read again if the log says so, before the change is announced as applied', async () => {
  store.commit('signing_key', '')
  const seen: unknown[] = []
  store.beforeRead = (what) => seen.push([what, [...applied]])
  await follower.catchUp()
  expect(seen).toEqual([
    ['changes', []],
    ['signingSecrets', []],
  ])
  expect(applied).toEqual([1])
})

test('the first catch-up reads the revision before the rows, and everything', async () => {
  const fresh = follow()
  expect(fresh.loaded).toBe(false)
  await fresh.catchUp()
  expect(store.reads).toEqual(['state', ...EVERYTHING])
  expect(fresh.catalog.basemaps.has('world')).toBe(true)
})

describe('a message that carries its changes', () => {
  test('is applied at once if it continues the history and concerns only tokens', () => {
    expect(follower.hear(saying(store.commit('token', 'aa')))).toBe(true)
    expect(forgotten).toEqual(['aa'])
    expect(follower.applied).toEqual(store.state())
    expect(applied).toEqual([1])
    expect(store.reads).toEqual([])
  })

  test('drops its tokens although the store is unreachable and a revision is missing', () => {
    store.down = true
    store.commit('basemap', 'world')
    expect(follower.hear(saying(store.commit('token', 'bb')))).toBe(false)
    expect(forgotten).toEqual(['bb'])
    expect(follower.appliedRevision).toBe(0)
  })

  test('is applied while a store that does not answer is being read', async () => {
    store.down = true
    const reading = follower.catchUp()
    expect(follower.hear(saying(store.commit('token', 'aa')))).toBe(true)
    expect(applied).toEqual([1])
    await expect(reading).rejects.toThrow('out of reach')
    expect(follower.applied).toEqual(store.state())
  })

  test('is not undone by an earlier result of the log', async () => {
    store.commit('token', 'aa')
    const reading = follower.catchUp()
    const [first] = store.log as [LoggedChange]
    expect(follower.hear(saying(first))).toBe(true)
    expect(follower.hear(saying(store.commit('token', 'bb')))).toBe(true)
    await reading
    expect(follower.applied).toEqual(store.state())
    store.commit('token', 'cc')
    await follower.catchUp()
    expect(follower.applied).toEqual(store.state())
  })

  test('that arrived before is ignored', async () => {
    const change = store.commit('token', 'aa')
    await follower.catchUp()
    expect(follower.hear(saying(change))).toBe(true)
    expect(follower.appliedRevision).toBe(1)
  })

  test('of a basemap needs the log, and its rows are read before the revision counts as applied', async () => {
    store.rows = [storedBasemap('world', [storedVersion('v1'), storedVersion('v2')])]
    expect(follower.hear(saying(store.commit('basemap', 'world')))).toBe(false)
    await follower.catchUp()
    expect(store.reads).toEqual(['changes', 'basemaps world'])
    expect(follower.catalog.basemaps.get('world')?.versions.has('v2')).toBe(true)
    expect(applied).toEqual([1])
  })

  test('from the previous version of the program, without marks, drops its tokens and needs the log', async () => {
    const { revision, kind, key } = store.commit('token', 'cc')
    expect(follower.hear({ revision, changes: [{ revision, kind, key }] })).toBe(false)
    expect(forgotten).toEqual(['cc'])
  })

  test('of another history is not a continuation, for any number, and proves nothing until the log was read', async () => {
    store.commit('token', 'lost')
    await follower.catchUp()
    Object.assign(store, { revision: 0, mark: 'mark 0', log: [] })
    const overtaking = [store.commit('token', 'a'), store.commit('token', 'b')]
    for (const change of overtaking) expect(follower.hear(saying(change))).toBe(false)
    now = 2_000
    follower.noteAttested(store.state())
    expect(follower.knownCurrentAt).toBe(1_000)
    await follower.catchUp()
    expect(forgotten.at(-1)).toBe('*')
    expect(follower.applied).toEqual(store.state())
  })
})

test('an announced state is the newest one before any token is dropped, until the log corrects it', async () => {
  await follower.catchUp()
  const applied = store.state()
  store.commit('token', 'aa')
  const missed = store.commit('token', 'bb')
  expect(follower.hear(saying(missed))).toBe(false)
  expect(follower.applied).toMatchObject({ revision: applied.revision })
  expect(follower.newest).toEqual({ revision: missed.revision, mark: missed.mark })
  // A message of an abandoned history.
  now += 1
  expect(follower.hear({ revision: 1_000, mark: 'lost', previousMark: 'unknown', changes: [] })).toBe(false)
  expect(follower.newest).toEqual({ revision: 1_000, mark: 'lost' })
  now += 1
  await follower.catchUp()
  expect(follower.newest).toEqual({ revision: missed.revision, mark: missed.mark })
})

test('after a message without its changes the process is behind until the log was read', async () => {
  const change = store.commit('token', 'cc')
  now = 2_000
  expect(follower.hear(saying(change, []))).toBe(false)
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(1_000)
  await follower.catchUp()
  expect(forgotten).toEqual(['cc'])
  now = 3_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(3_000)
})

test('after a gap in the subscription an attested state proves nothing until the log was read', async () => {
  follower.noteGap()
  now = 2_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(1_000)
  await follower.catchUp()
  now = 2_500
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(2_500)
})

test('a state that this process has not applied proves nothing, even if no message was missed noticeably', async () => {
  now = 2_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(2_000)
  // The control plane was killed before it published this.
  store.commit('token', 'lost')
  now = 3_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(2_000)
  await follower.catchUp()
  now = 4_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(4_000)
})

test('a log that no longer reaches back means flush and reload', async () => {
  store.commit('token', 'a')
  store.commit('token', 'b')
  store.prunedBelow = 1
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(store.reads).toEqual(['changes', ...EVERYTHING])
  expect(follower.appliedRevision).toBe(2)
})

describe('a process that starts from the kept state of an earlier one', () => {
  const begin = () => {
    store.rows = [storedBasemap('world', [storedVersion('v1')])]
    const kept = {
      state: store.state(),
      basemaps: store.rows,
      vectors: [],
      styles: [],
      fonts: [],
      currentAt: now - 60_000,
    }
    follower = follow()
    return { process: follower, kept }
  }

  test('serves it, has its age, and an attested state does not change that', () => {
    const { process, kept } = begin()
    expect(process.begin(kept)).toBe(true)
    process.noteAttested(kept.state)
    expect([...process.catalog.basemaps.keys()]).toEqual(['world'])
    expect(process.knownCurrentAt).toBe(now - 60_000)
  })

  test('drops tokens that were disabled since, once it has read the log', async () => {
    const { process, kept } = begin()
    store.commit('token', 'disabled meanwhile')
    process.begin(kept)
    await process.catchUp()
    expect(forgotten).toEqual(['disabled meanwhile'])
    expect(process.applied).toEqual(store.state())
    expect(process.knownCurrentAt).toBe(now)
  })

  test('drops everything if the store has been restored since', async () => {
    const { process, kept } = begin()
    process.begin(kept)
    store.epoch = 'another'
    store.rows = []
    await process.catchUp()
    expect(forgotten).toEqual(['*'])
    expect(process.catalog.basemaps.size).toBe(0)
  })

  test('does not use it if it has read the store, or is reading it', async () => {
    const { process, kept } = begin()
    const reading = process.catchUp()
    expect(process.begin(kept)).toBe(false)
    await reading
    expect(process.begin(kept)).toBe(false)
  })
})

test('a store restored from a backup, behind this process, means flush and reload', async () => {
  store.commit('token', 'a')
  await follower.catchUp()
  Object.assign(store, { revision: 0, mark: 'mark 0', log: [] })
  forgotten = []
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(follower.appliedRevision).toBe(0)
  now = 9_000
  follower.noteAttested(store.state())
  expect(follower.knownCurrentAt).toBe(9_000)
})

test('an unreachable store changes nothing, and the time of the last certainty stays', async () => {
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

test('catch-ups that are requested during one share a single further run', async () => {
  const runs = [follower.catchUp(), follower.catchUp(), follower.catchUp()]
  await Promise.all(runs)
  expect(store.reads.filter((read) => read === 'changes')).toHaveLength(2)
})

test('the time of certainty is that of the query, not of its result', async () => {
  now = 2_000
  const asking = follower.catchUp()
  now = 2_900
  await asking
  expect(follower.knownCurrentAt).toBe(2_000)
})

test('a store with higher numbers of another history means flush and reload, before any row is read', async () => {
  store.commit('token', 'lost')
  await follower.catchUp()
  Object.assign(store, { revision: 0, mark: 'mark 0', log: [] })
  for (const key of ['a', 'b', 'c']) store.commit('vector', key)
  forgotten = []
  store.beforeRead = (what) => {
    if (what === 'basemapSizes') expect(forgotten).toEqual(['*'])
  }
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(follower.applied).toEqual(store.state())
})

test('a store of another epoch means flush and reload, although its log has not moved', async () => {
  store.epoch = 'after a promotion'
  await follower.catchUp()
  expect(forgotten).toEqual(['*'])
  expect(store.reads).toEqual(['changes', ...EVERYTHING])
  expect(applied).toEqual([0])
})

test('many basemaps are read in pages, and a token that is disabled meanwhile is dropped between two pages', async () => {
  const versions = ['v1', 'v2', 'v3', 'v4', 'v5'].map((version) => storedVersion(version))
  store.rows = Array.from({ length: 2 * (PAGE_ROWS / 5) + 1 }, (_, i) => storedBasemap(`map-${i}`, versions))
  for (const { code } of store.rows) store.commit('basemap', code)
  const before = store.state()
  store.beforeRead = (what) => {
    if (what !== 'basemaps') return
    now += 1_500
    if (store.revision === before.revision) store.commit('token', 'dd')
    else expect(forgotten).toEqual(['dd'])
  }
  await follower.catchUp()
  expect(store.reads.map((read) => read.split(' ')[0])).toEqual([
    'changes',
    'basemapSizes',
    ...['basemaps', 'changes', 'basemaps', 'changes', 'basemaps'],
  ])
  expect(follower.catalog.basemaps.size).toBe(store.rows.length + 1)
  expect(follower.applied).toEqual(before)
  store.beforeRead = () => {}
  await follower.catchUp()
  expect(follower.applied).toEqual(store.state())
})
