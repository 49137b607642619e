import type { AccessToken } from '@gateway/core/access/decide.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import type { TokenUse } from '@gateway/store/tokens.js'
import { describe, expect, test } from 'vitest'
import { TokenCache } from './token-cache.js'
import { TokenUsage } from './token-usage.js'

const digestOf = (plaintext: string): string => tokenDigest(plaintext).toString('hex')

function accessToken(id: string, disabled = false): AccessToken {
  return {
    id,
    prefix: id,
    scopes: new Set(['read']),
    basemaps: new Set(['*']),
    vectors: new Set(),
    layers: new Set(),
    expiresAtMs: null,
    disabled,
    limits: null,
  }
}

/** A store whose queries are answered manually, in order, so that a test can produce any interleaving. */
class HeldStore {
  readonly tokens = new Map<string, AccessToken>()
  readonly asked: string[][] = []
  #arrived: (() => void)[] = []
  readonly #held: (() => void)[] = []

  readonly find = (digests: readonly Buffer[]): Promise<ReadonlyMap<string, AccessToken>> => {
    const keys = digests.map((digest) => digest.toString('hex'))
    this.asked.push(keys)
    // The data is read now and returned later, as in a slow query.
    const found = new Map(
      keys.flatMap((key) => (this.tokens.has(key) ? [[key, this.tokens.get(key) as AccessToken]] : [])),
    )
    for (const arrived of this.#arrived.splice(0)) arrived()
    return new Promise((resolve) => this.#held.push(() => resolve(found)))
  }

  async nextQuery(): Promise<() => void> {
    if (this.#held.length === 0) await new Promise<void>((resolve) => this.#arrived.push(resolve))
    await new Promise(setImmediate)
    return this.#held.shift() as () => void
  }
}

function cacheOn(store: HeldStore): TokenCache {
  return new TokenCache(store.find, new TokenUsage())
}

test('a token is looked up once and then cached', async () => {
  const store = new HeldStore()
  const plaintext = createToken()
  store.tokens.set(digestOf(plaintext), accessToken('a'))
  const cache = cacheOn(store)
  expect(cache.get(plaintext)).toBeUndefined()
  const answer = cache.lookUp(plaintext)
  const release = await store.nextQuery()
  release()
  expect((await answer)?.id).toBe('a')
  expect(cache.get(plaintext)?.id).toBe('a')
  expect(store.asked).toHaveLength(1)
})

test('concurrent requests share one query, with each token once', async () => {
  const store = new HeldStore()
  const cache = cacheOn(store)
  const [a, b] = [createToken(), createToken()] as const
  store.tokens.set(digestOf(a), accessToken('a'))
  const answers = Promise.all([cache.lookUp(a), cache.lookUp(b), cache.lookUp(a)])
  const release = await store.nextQuery()
  release()
  expect((await answers).map((token) => token?.id)).toEqual(['a', undefined, 'a'])
  expect(store.asked).toEqual([[digestOf(a), digestOf(b)]])
})

test('an unknown token costs one query, and is then cached as unknown', async () => {
  const store = new HeldStore()
  const cache = cacheOn(store)
  const plaintext = createToken()
  const answer = cache.lookUp(plaintext)
  const release = await store.nextQuery()
  release()
  expect(await answer).toBeNull()
  expect(cache.get(plaintext)).toBeNull()
})

test('a flood of unknown tokens evicts no good token', async () => {
  const good = createToken()
  const find = async (digests: readonly Buffer[]) =>
    new Map(
      digests
        .map((d) => d.toString('hex'))
        .filter((key) => key === digestOf(good))
        .map((key) => [key, accessToken('good')]),
    )
  const cache = new TokenCache(find, new TokenUsage())
  await cache.lookUp(good)
  for (let round = 0; round < 12; round++) {
    await Promise.all(Array.from({ length: 2_000 }, () => cache.lookUp(createToken())))
  }
  expect(cache.get(good)?.id).toBe('good')
})

test('with twenty thousand waiting tokens, further ones are refused at once, but not cached ones', async () => {
  const store = new HeldStore()
  const good = createToken()
  store.tokens.set(digestOf(good), accessToken('good'))
  const cache = cacheOn(store)
  const answer = cache.lookUp(good)
  const release = await store.nextQuery()
  release()
  await answer
  const flood = Array.from({ length: 20_000 }, (_, i) => cache.lookUp(`token ${i}`))
  await expect(cache.lookUp(createToken())).rejects.toThrow('too many unknown tokens')
  expect(cache.get(good)?.id).toBe('good')
  expect(flood).toHaveLength(20_000)
})

describe('an invalidation', () => {
  test('drops a token by its digest', async () => {
    const store = new HeldStore()
    const plaintext = createToken()
    store.tokens.set(digestOf(plaintext), accessToken('a'))
    const cache = cacheOn(store)
    const answer = cache.lookUp(plaintext)
    const release = await store.nextQuery()
    release()
    await answer
    cache.invalidate(digestOf(plaintext))
    expect(cache.get(plaintext)).toBeUndefined()
  })

  test.each(['invalidate', 'invalidateAll'] as const)('by %s during a query repeats the query', async (how) => {
    const store = new HeldStore()
    const plaintext = createToken()
    const digest = digestOf(plaintext)
    store.tokens.set(digest, accessToken('a'))
    const cache = cacheOn(store)
    const answer = cache.lookUp(plaintext)
    const staleQuery = await store.nextQuery()
    // The token is disabled, and the invalidation arrives while the result of the first query is on its way.
    store.tokens.set(digest, accessToken('a', true))
    if (how === 'invalidate') cache.invalidate(digest)
    else cache.invalidateAll()
    // A request that arrives now joins the waiting ones, and must not get the old result either.
    const late = cache.lookUp(plaintext)
    staleQuery()
    const freshQuery = await store.nextQuery()
    expect(cache.get(plaintext)).toBeUndefined()
    freshQuery()
    expect((await answer)?.disabled).toBe(true)
    expect((await late)?.disabled).toBe(true)
    expect(cache.get(plaintext)?.disabled).toBe(true)
    expect(store.asked).toHaveLength(2)
  })

  test('of another token does not affect a query', async () => {
    const store = new HeldStore()
    const plaintext = createToken()
    store.tokens.set(digestOf(plaintext), accessToken('a'))
    const cache = cacheOn(store)
    const answer = cache.lookUp(plaintext)
    const query = await store.nextQuery()
    cache.invalidate(digestOf(createToken()))
    query()
    expect((await answer)?.id).toBe('a')
    expect(store.asked).toHaveLength(1)
  })
})

test('a failed query rejects the waiting requests and is not cached', async () => {
  let down = true
  const cache = new TokenCache(async () => {
    if (down) throw new Error('store down')
    return new Map()
  }, new TokenUsage())
  const plaintext = createToken()
  await expect(cache.lookUp(plaintext)).rejects.toThrow('store down')
  expect(cache.get(plaintext)).toBeUndefined()
  down = false
  expect(await cache.lookUp(plaintext)).toBeNull()
})

test('uses that cannot be written are kept, and newer ones replace them', async () => {
  const usage = new TokenUsage()
  usage.note('a', 1_000)
  usage.note('b', 2_000)
  await usage.flush(async () => {
    usage.note('a', 5_000)
    throw new Error('store down')
  }, 3_000)
  let saved: ReadonlyMap<string, TokenUse> = new Map()
  await usage.flush(async (used) => {
    saved = used
  }, 6_000)
  expect([...saved].map(([id, { at }]) => [id, at.getTime()]).sort()).toEqual([
    ['a', 5_000],
    ['b', 2_000],
  ])
})

test('a first use is written at once, steady use periodically, and the last use before the end', async () => {
  const usage = new TokenUsage()
  const saved: number[] = []
  const save = async (used: ReadonlyMap<string, TokenUse>) =>
    void saved.push(...[...used.values()].map(({ at }) => at.getTime()))
  for (let now = 1_000; now <= 65_000; now += 2_000) {
    usage.note('a', now)
    await usage.flush(save, now)
  }
  expect(saved).toEqual([1_000, 31_000, 61_000])
  await usage.flush(save, 66_000, true)
  expect(saved.at(-1)).toBe(65_000)
})

test('the address of a token is requested periodically, and written with its use', async () => {
  const usage = new TokenUsage()
  const saved: (string | null)[] = []
  const save = async (used: ReadonlyMap<string, TokenUse>) =>
    void saved.push(...[...used.values()].map(({ from }) => from))
  let asked = 0
  for (let now = 1_000; now <= 95_000; now += 2_000) {
    usage.note('a', now)
    if (usage.wantsAddress('a')) usage.noteAddress('a', `192.0.2.${++asked}`, now)
    await usage.flush(save, now)
  }
  expect(saved).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'])
  const failing = new TokenUsage()
  failing.note('a', 0)
  failing.noteAddress('a', '192.0.2.9', 0)
  await failing.flush(() => Promise.reject(new Error('store down')), 40_000)
  await failing.flush(save, 42_000)
  expect(saved.at(-1)).toBe('192.0.2.9')
  expect(new TokenUsage(false).wantsAddress('a')).toBe(false)
})
