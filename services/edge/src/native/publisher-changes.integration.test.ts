import { createToken } from '@gateway/core/access/token-format.js'
import { expect, test, vi } from 'vitest'
import {
  announced,
  ask,
  BODIES,
  CURRENT,
  commit,
  follower,
  issue,
  running,
  saying,
  switchDefault,
  TARGETS,
  usePublishingEdge,
  V1,
  warm,
  withToken,
  write,
} from '../testing/publishing-edge.js'
import { READER } from '../testing/running-edge.js'

usePublishingEdge()

test('a disabled token is refused although the table knew it, once the change is announced as applied', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  running.storedTokens.set(digest, { ...READER, id: digest, disabled: true })
  const change = commit('token', digest)
  const before = announced.length
  expect(follower.hear(saying(change))).toBe(true)
  expect(announced.slice(before)).toEqual([change.revision])
  const refused = await ask(V1, withToken(token))
  expect([refused.by, refused.status]).toEqual(['javascript', 401])
  await warm(V1)
})

test('a change of everything drops all tokens, and the changed tiles', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  await warm(CURRENT)
  running.storedTokens.delete(digest)
  const change = commit('all', '*')
  follower.hear(saying(change))
  expect((await ask(V1, withToken(token))).status).toBe(401)
  await follower.catchUp()
  // First by JavaScript, which must look up the token; from then on by the table, which still has the tile.
  expect([(await ask(V1, withToken())).by, (await ask(V1, withToken())).by]).toEqual(['javascript', 'table'])
  await switchDefault('v2', 'all', '*')
  const bodies = [await ask(CURRENT, withToken()), await ask(CURRENT, withToken())].map(({ body }) => body)
  expect(bodies.every((body) => body.equals(BODIES.v2))).toBe(true)
  await switchDefault('v1', 'all', '*')
})

test('a default switch changes the tiles of `current` and the short address from the first request on', async () => {
  for (const target of TARGETS) await warm(target)
  for (const version of ['v2', 'v1'] as const) {
    await switchDefault(version)
    for (const target of TARGETS.slice(1)) {
      const first = await ask(target, withToken())
      expect([first.by, first.body.equals(BODIES[version])], target).toEqual(['javascript', true])
      await warm(target)
      expect((await ask(target, withToken())).body.equals(BODIES[version]), target).toBe(true)
    }
  }
})

test('a change of one basemap drops only its own tiles from both caches', async () => {
  const packed = '/tiles/packed/0/0/0.pbf'
  const gzip = { ...withToken(), 'accept-encoding': 'gzip' }
  const { hotTiles } = running.edge
  for (const target of [V1, packed]) {
    await warm(target, gzip)
    // A request in a form that only JavaScript answers puts the tile into its cache too.
    for (let i = 0; i < 2; i++) await ask(`${target}?%61=b`, gzip)
    expect(hotTiles.get(target, follower.catalog, performance.now())).toBeDefined()
  }
  await switchDefault('v2')
  hotTiles.follow(follower.catalog)
  const kept = [V1, packed].map((target) => hotTiles.get(target, follower.catalog, performance.now()) !== undefined)
  expect(kept).toEqual([false, true])
  expect([(await ask(V1, gzip)).by, (await ask(packed, gzip)).by]).toEqual(['javascript', 'table'])
  await switchDefault('v1')
})

test.each([
  ['its own basemap', 'alps', false],
  ['another basemap', 'packed', true],
] as const)('a tile whose load began before a change of %s is kept: %s', async (_name, changed, isKept) => {
  const { edge } = running
  const target = '/tiles/alps/current/3/0/0.png'
  write('v1/3/0/0.png', BODIES.v1)
  edge.hotTiles.drop(target)
  const now = vi.spyOn(edge.tiles, 'tileIfCached').mockReturnValueOnce(undefined)
  const release = new Promise<() => void>((resolve) => {
    const { load: start } = edge.tiles
    vi.spyOn(edge.tiles, 'load').mockImplementationOnce((...load) => resolve(() => start.apply(edge.tiles, load)))
  })
  const answer = ask(target, withToken())
  const load = await release
  await switchDefault(changed === 'alps' ? 'v2' : 'v1', 'basemap', changed)
  load()
  // The request was for the tile of that time.
  expect((await answer).body.equals(BODIES.v1)).toBe(true)
  now.mockRestore()
  const next = await ask(target, withToken())
  expect([next.by, next.status]).toEqual(isKept ? ['storage', 200] : ['javascript', 404])
  await switchDefault('v1')
})

test('twenty thousand tokens in use are honoured at the same time', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  const others = Array.from({ length: 20_000 }, () => createToken())
  for (const other of others) running.edge.native.noteToken(other, READER)
  for (const known of [token, others[0] as string, others.at(-1) as string]) {
    expect((await ask(V1, withToken(known))).by).toBe('table')
  }
  for (const other of others) running.edge.native.forgetToken(other)
  running.storedTokens.delete(digest)
  running.edge.tokens.invalidate(digest)
  expect((await ask(V1, withToken(token))).status).toBe(401)
})

test('a change that concerns no tile leaves the tiles in the table', async () => {
  await warm(V1)
  const alps = follower.catalog.basemaps.get('alps')
  commit('vector', 'roads')
  await follower.catchUp()
  expect(follower.catalog.basemaps.get('alps')).toBe(alps)
  expect((await ask(V1, withToken())).by).toBe('table')
})
