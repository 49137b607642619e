import { ADDRESSES, type AddressForm } from '@gateway/contracts/addresses.js'
import { expect, test } from 'vitest'
import { askEverywhere } from '../harness/ask-everywhere.js'
import { useMaps } from './maps.js'

const WORKERS = 2
const maps = useMaps({ edges: 2, edgeWorkers: WORKERS, env: { TRUSTED_PROXIES: '127.0.0.1' } })

const MAPS = 'https://maps.example.com'
const TILE = '/tiles/world/2026-2/0/0/0.png'
/** A tile, another route of the edge, and a route of the control plane. */
const PATHS = [
  TILE,
  '/tiles/world/tilejson.json',
  '/wmts/1.0.0/WMTSCapabilities.xml',
  '/geojson/regions/countries.geojson',
  '/api/v1/catalog/basemaps',
  '/api/v1/catalog/basemaps/world',
]

/** The four ways of delivery. */
const WAYS: readonly ((token: string) => { query?: string; headers?: Record<string, string> })[] = [
  (token) => ({ headers: { authorization: `Bearer ${token}` } }),
  (token) => ({ headers: { 'x-access-token': token } }),
  (token) => ({ query: `?token=${token}` }),
  (token) => ({ query: `?access_token=${token}` }),
]

/** Returns the status for each way of delivery. Asks twice, so that a hot tile is served natively. */
async function statuses(token: string, headers: Record<string, string>): Promise<number[]> {
  const seen = new Set<number>()
  for (let round = 0; round < 2; round++) {
    for (const way of WAYS) {
      const delivered = way(token)
      const all = { ...delivered.headers, ...headers }
      for (const path of PATHS) {
        const answer = await maps().get(`${path}${delivered.query ?? ''}`, all)
        await answer.arrayBuffer()
        seen.add(answer.status)
      }
      for (const { status } of await askEverywhere(maps().gateway, `${TILE}${delivered.query ?? ''}`, all))
        seen.add(status)
    }
  }
  return [...seen]
}

async function change(id: string, body: object): Promise<void> {
  const path = `/tokens/${id}`
  const answer = await maps().gateway.admin.expect<{ confirmed: unknown[]; pending: unknown[] }>(path, {
    method: 'PATCH',
    body,
  })
  expect([answer.confirmed.length, answer.pending.length]).toEqual([2 * WORKERS, 0])
}

test('a hot token that is then limited to an origin gets 403 from any other, until the limit is lifted', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })
  expect(await statuses(token, {})).toEqual([200])
  await change(id, { allowed_origins: [MAPS] })
  expect(await statuses(token, { origin: 'https://other.example.com' })).toEqual([403])
  expect(await statuses(token, {})).toEqual([403])
  expect(await statuses(token, { origin: MAPS })).toEqual([200])
  expect(await statuses(token, { referer: `${MAPS}/page` })).toEqual([200])
  expect(await statuses(token, { origin: 'https://other.example.com', referer: `${MAPS}/page` })).toEqual([403])
  await change(id, { allowed_origins: [] })
  expect(await statuses(token, {})).toEqual([200])
})

test('a token for a network is checked against the address that a trusted proxy reports', async () => {
  const allowed_networks = ['10.0.0.0/8']
  const { token } = await maps().gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'], allowed_networks })
  expect(await statuses(token, { 'x-forwarded-for': '10.1.2.3' })).toEqual([200])
  expect(await statuses(token, { 'x-forwarded-for': '192.0.2.1' })).toEqual([403])
  expect(await statuses(token, { 'x-forwarded-for': '10.1.2.3, 192.0.2.1' })).toEqual([403])
  expect(await statuses(token, {})).toEqual([403])
})

test('a second line of X-Forwarded-For counts as behind the first, which a client may have forged', async () => {
  const allowed_networks = ['10.0.0.0/8']
  const { token } = await maps().gateway.issueToken({ basemap_codes: ['*'], allowed_networks })
  const statusesFrom = async (lines: string[]) => {
    const headers = { 'x-access-token': token, 'x-forwarded-for': lines }
    return new Set((await askEverywhere(maps().gateway, TILE, headers)).map(({ status }) => status))
  }
  expect(await statusesFrom(['10.1.2.3', '192.0.2.1'])).toEqual(new Set([403]))
  expect(await statusesFrom(['192.0.2.1', '10.1.2.3'])).toEqual(new Set([200]))
})

/** Returns the responses of all processes of both edges to concurrent callers in a time span. */
async function flood(path: string, headers: Record<string, string>, callers: number, seconds: number) {
  const { edges } = maps().gateway
  const answers = { admitted: 0, limited: 0, other: new Set<number>() }
  const begin = performance.now()
  const elapsed = () => (performance.now() - begin) / 1000
  const call = async (i: number) => {
    while (elapsed() < seconds) {
      // A new connection for each request, so that every process is asked.
      const answer = await fetch(`${(edges[i % edges.length] as { url: string }).url}${path}`, {
        headers: { ...headers, connection: 'close' },
      })
      await answer.arrayBuffer()
      if (answer.status === 200) answers.admitted++
      else if (answer.status === 429) answers.limited++
      else answers.other.add(answer.status)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, i) => call(i)))
  return { ...answers, seconds: elapsed() }
}

test('a token is held to its rate limit over all processes of two edges, and unlimited once the limit is lifted', async () => {
  // Low enough that a busy machine also exceeds it.
  const rate_limit = { per_second: 15, burst: 15 }
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'], rate_limit })
  const { admitted, limited, other, seconds } = await flood(TILE, { 'x-access-token': token }, 8, 3)
  expect([...other]).toEqual([])
  expect(limited).toBeGreaterThan(0)
  const allowed = rate_limit.burst + rate_limit.per_second * seconds
  expect(admitted).toBeGreaterThan(0.8 * allowed)
  expect(admitted).toBeLessThan(1.2 * allowed)
  await change(id, { rate_limit: null })
  expect(await statuses(token, {})).toEqual([200])
})

test('a limit set on a hot token holds in each way of delivery, and the response says when to retry', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })
  expect(await statuses(token, {})).toEqual([200])
  await change(id, { rate_limit: { per_second: 0.01, burst: 1 } })
  expect((await maps().get(TILE, { 'x-access-token': token })).status).toBe(200)
  expect(await statuses(token, {})).toEqual([429])
  const refused = await maps().get(TILE, { 'x-access-token': token })
  expect(await refused.json()).toEqual({ error: expect.stringContaining('please try again') })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After')
  // A request that is refused for another reason does not count against the limit, and gets its own status.
  expect((await maps().get('/api/v1/slice/jobs/x', { 'x-access-token': token })).status).toBe(403)
})

/** The forms below the catalog, some of which the control plane answers. The test same-decisions.integration.test.ts compares those that only the edge answers. */
const CATALOG_FORMS = Object.values<readonly AddressForm[]>(ADDRESSES)
  .flatMap((forms) => forms.map(({ form }) => form))
  .filter((form) => form.startsWith('/api/v1/catalog/'))

test('forward-auth decides about every address of the catalog as the gateway does, also where the control plane answers', async () => {
  const { gateway } = maps()
  const issue = async (body: object) => ({ 'x-access-token': (await gateway.issueToken(body)).token })
  const everything = { basemap_codes: ['*'], vector_codes: ['*'] }
  const disabled = await gateway.issueToken(everything)
  await gateway.admin.expect(`/tokens/${disabled.id}/disable`, { method: 'POST' })
  const credentials: Record<string, Record<string, string>> = {
    none: {},
    unknown: { 'x-access-token': `bmp_${'x'.repeat(43)}` },
    disabled: { 'x-access-token': disabled.token },
    all: await issue(everything),
    'one basemap': await issue({ basemap_codes: ['world'] }),
    'one vector': await issue({ vector_codes: ['regions-countries'] }),
    'only slicing': await issue({ ...everything, scopes: ['slice'] }),
    'bounds elsewhere': await issue({ ...everything, bounds: [170, -80, 179, -70] }),
    'another origin': await issue({ ...everything, allowed_origins: [MAPS] }),
  }
  const addresses = CATALOG_FORMS.flatMap((form) =>
    ['world', 'archive', 'missing'].map((code) => form.replace('{code}', code).replace('{id}', 'x')),
  )
  const decision = ({ status }: Response) => (status === 401 || status === 403 ? status : 'in')
  const differences: unknown[] = []
  for (const address of new Set(addresses)) {
    const target = address.endsWith('/changes') ? `${address}?from=2026-2&to=2026-10` : address
    for (const [who, headers] of Object.entries(credentials)) {
      const direct = decision(await maps().get(target, headers))
      const proxied = decision(await maps().get('/api/v1/forward-auth', { ...headers, 'x-original-uri': target }))
      if (direct !== proxied) differences.push({ target, who, direct, proxied })
    }
  }
  expect(differences).toEqual([])
  expect(CATALOG_FORMS.length).toBeGreaterThanOrEqual(9)
})
