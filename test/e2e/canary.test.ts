import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'

interface Switch {
  readonly version: string
  readonly status: string
  readonly canary: { readonly before: Counts; readonly after: Counts } | null
}
interface Counts {
  readonly requests: number
  readonly missing: number
  readonly failed: number
}

const TOKENS = 30
const DEFAULT = '/basemaps/world/default-version'
const PLACES = ['0/0/0', '1/0/0', '1/0/1', '1/1/0', '1/1/1']
const tokens: string[] = []

const gateway = useGateway({ edges: 2, env: { TOKEN_STALE_SECONDS: '1' } }, async (started) => {
  const maps = join(started.home, 'basemaps')
  for (const version of ['v1', 'v2', 'v3']) await makeTileFolder(join(maps, 'world', version), { maxZoom: 1 })
  // Leaves most tiles of the version missing.
  for (const column of ['0', '1']) await rm(join(maps, 'world/v2/1', column), { recursive: true })
  await started.admin.scanSource('maps', 'basemap', maps)
  await started.admin.expect(DEFAULT, { body: { version: 'v1' } })
  for (let i = 0; i < TOKENS; i++) tokens.push((await started.issueToken({ basemap_codes: ['world'] })).token)
})

/** Returns the version that a token gets on each edge. */
async function versionsOf(token: string): Promise<string[]> {
  const answers = gateway().edges.map(async ({ url }) => {
    const answer = await fetch(`${url}/tiles/world/tilejson.json`, { headers: { authorization: `Bearer ${token}` } })
    const { tiles } = (await answer.json()) as { tiles: string[] }
    return /world\/([^/]+)\/\{z\}/.exec(tiles[0] as string)?.[1] as string
  })
  return await Promise.all(answers)
}

async function newestSwitch(): Promise<Switch> {
  const { switches } = await gateway().admin.expect<{ switches: Switch[] }>('/basemaps/world/default-history')
  return switches[0] as Switch
}

/** Requests tiles with all tokens, over all edges, until the newest switch has ended. */
async function loadUntilEnded(): Promise<Switch> {
  for (let round = 0; ; round++) {
    for (const [i, token] of tokens.entries()) {
      const { url } = gateway().edges[(i + round) % 2] as { url: string }
      const place = PLACES[(i + round) % PLACES.length]
      await (await fetch(`${url}/tiles/world/current/${place}.png?token=${token}`)).arrayBuffer()
    }
    const newest = await newestSwitch()
    if (!['pending', 'canary'].includes(newest.status)) return newest
  }
}

test('a version with missing tiles is rolled back under load, and counts, audit and event say why', {
  timeout: 120_000,
}, async () => {
  const { admin } = gateway()
  await admin.expect('/targets', { body: { code: 'portal', kind: 'http', url: 'http://192.0.2.1/hook' } })
  await admin.expect(DEFAULT, { body: { version: 'v2', canary: { percent: 50, minutes: 60 } } })
  const before = await Promise.all(tokens.map(versionsOf))
  for (const [one, other] of before) expect(one).toBe(other)
  const reached = before.filter(([one]) => one === 'v2').length
  expect(reached).toBeGreaterThan(3)
  expect(reached).toBeLessThan(TOKENS - 3)
  expect((await admin.call(DEFAULT, { body: { version: 'v3', canary: { percent: 1, minutes: 1 } } })).status).toBe(409)
  const ended = await loadUntilEnded()
  expect(ended).toMatchObject({ version: 'v2', status: 'rolled_back' })
  const { before: old, after } = ended.canary as NonNullable<Switch['canary']>
  expect(old.missing).toBe(0)
  expect(after.missing / after.requests).toBeGreaterThan(0.5)
  await gateway().caughtUp()
  expect((await Promise.all(tokens.map(versionsOf))).flat()).toEqual(Array(2 * TOKENS).fill('v1'))
  const { items: audit } = await admin.expect<{ items: { action: string }[] }>('/audit?limit=2')
  expect(audit.map(({ action }) => action)).toEqual(['basemap.roll-back-canary', 'basemap.start-canary'])
  const { items: events } = await admin.expect<{ items: { event: string }[] }>('/event-records?limit=2')
  expect(events.map(({ event }) => event)).toEqual(['basemap.default.rolled_back', 'basemap.default.canary_started'])
})

test('a version that is as good becomes the default after its minutes', async () => {
  const { admin } = gateway()
  await admin.expect(DEFAULT, { body: { version: 'v3', canary: { percent: 30, minutes: 0.2 } } })
  expect(await loadUntilEnded()).toMatchObject({ version: 'v3', status: 'done' })
  await gateway().caughtUp()
  expect((await Promise.all(tokens.map(versionsOf))).flat()).toEqual(Array(2 * TOKENS).fill('v3'))
  const { items } = await admin.expect<{ items: { version: string }[] }>('/basemaps/world/default-history')
  expect(items.slice(0, 2).map(({ version }) => version)).toEqual(['v3', 'v1'])
})

test('cancelling a canary gives all tokens the previous version', async () => {
  const { admin } = gateway()
  const started = await admin.expect<{ pending_switch: Switch }>(DEFAULT, {
    body: { version: 'v1', canary: { percent: 90, minutes: 60 } },
  })
  expect(started.pending_switch).toMatchObject({ version: 'v1', status: 'canary' })
  expect((await Promise.all(tokens.map(versionsOf))).flat()).toContain('v1')
  await admin.expect('/basemaps/world/default-switch', { method: 'DELETE' })
  expect((await Promise.all(tokens.map(versionsOf))).flat()).toEqual(Array(2 * TOKENS).fill('v3'))
})

test.each([
  [{ version: 'v1', canary: { percent: 0, minutes: 1 } }, 400],
  [{ version: 'v1', canary: { percent: 100, minutes: 1 } }, 400],
  [{ version: 'v1', canary: { percent: 10, minutes: 0 } }, 400],
  [{ version: 'v1', canary: { percent: 10 } }, 400],
  [{ version: 'v3', canary: { percent: 10, minutes: 1 } }, 400],
  [{ version: 'v9', canary: { percent: 10, minutes: 1 } }, 404],
])('%j returns %i', async (body, status) => {
  expect((await gateway().admin.call(DEFAULT, { body })).status).toBe(status)
})
