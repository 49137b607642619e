import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import { describe, expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { ADMIN_TOKEN, type Gateway } from '../harness/gateway.js'
import { useGateway } from '../harness/use-gateway.js'

const TOKEN_STALE_SECONDS = 3

async function prepare(gateway: Gateway): Promise<void> {
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 0 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
}

const read = async (url: string, token: string) => (await fetch(`${url}/tiles/world/0/0/0.png?token=${token}`)).status

describe('with the bus cut', () => {
  const gateway = useGateway(
    { edges: 2, redis: 'proxy', env: { TOKEN_STALE_SECONDS: String(TOKEN_STALE_SECONDS) } },
    prepare,
  )

  test.each(['cut', 'stall', 'swallow'] as const)(
    'an edge whose Redis is gone (%s) refuses a disabled token within TOKEN_STALE_SECONDS, the other at once',
    async (how) => {
      const [severed, connected] = gateway().edges
      if (severed?.redisProxy == null || connected === undefined) throw new Error('two edges behind proxies')
      const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
      expect(await read(severed.url, token)).toBe(200)
      expect(await read(connected.url, token)).toBe(200)
      await severed.redisProxy[how]()
      await gateway().admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
      expect(await read(connected.url, token)).toBe(401)
      await sleep(TOKEN_STALE_SECONDS * 1000)
      expect(await read(severed.url, token)).toBe(401)
      await severed.redisProxy.restore()
    },
  )

  test('without Redis both edges confirm through the store, and refuse once they have confirmed', async () => {
    const proxies = [gateway().controlPlane, ...gateway().edges].map((process) => process.redisProxy)
    const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
    for (const edge of gateway().edges) expect(await read(edge.url, token)).toBe(200)
    await Promise.all(proxies.map((proxy) => proxy?.cut()))
    const { confirmed, pending } = await gateway().admin.expect<DisabledToken>(`/tokens/${id}/disable`, {
      method: 'POST',
    })
    expect(pending).toEqual([])
    expect(confirmed.map(({ path }) => path)).toEqual(['store', 'store'])
    for (const edge of gateway().edges) expect(await read(edge.url, token)).toBe(401)
    await Promise.all(proxies.map((proxy) => proxy?.restore()))
  })

  test('once Redis is back, both edges confirm a disabled token again', async () => {
    for (;;) {
      const { id } = await gateway().issueToken({})
      const { confirmed } = await gateway().admin.expect<{ confirmed: unknown[] }>(`/tokens/${id}/disable`, {
        method: 'POST',
      })
      if (confirmed.length === 2) break
    }
  })
})

describe('with the store gone', () => {
  const gateway = useGateway({ edges: 1, postgres: 'proxy' }, prepare)

  test('known tokens and tiles still work, unknown tokens and administration return 503, and all recover', async () => {
    gateway().allowErrors(/ECONN|connect|store|database|time|CONNECTION/i)
    const edge = gateway().edges[0]
    const proxies = [gateway().controlPlane.postgresProxy, edge?.postgresProxy]
    const known = await gateway().issueToken({ basemap_codes: ['world'] })
    const unknown = await gateway().issueToken({ basemap_codes: ['world'] })
    expect(await read(gateway().url, known.token)).toBe(200)
    await Promise.all(proxies.map((proxy) => proxy?.cut()))
    expect(await read(gateway().url, known.token)).toBe(200)
    const refused = await fetch(`${gateway().url}/tiles/world/0/0/0.png?token=${unknown.token}`)
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toEqual({ error: expect.any(String) })
    const admin = await gateway().admin.call('/tokens')
    expect(admin.status).toBe(503)
    expect(Number(admin.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fetch(`${gateway().url}/health`)).status).toBe(200)
    await Promise.all(proxies.map((proxy) => proxy?.restore()))
    await gateway().ready()
    while ((await gateway().admin.call('/tokens')).status !== 200) await sleep(50)
    while ((await read(gateway().url, unknown.token)) !== 200) await sleep(50)
  })
})

describe('with messages that cannot reach an edge, which reaches only the bus', () => {
  const gateway = useGateway(
    { edges: 1, redis: 'proxy', postgres: 'proxy', env: { TOKEN_STALE_SECONDS: '3', TOKEN_OFFLINE_SECONDS: '3' } },
    prepare,
  )

  test('it serves while a control plane attests its state, and stops after a change that it was not told', async () => {
    gateway().allowErrors(/ECONN|connect|store|bus|time|CONNECTION/i)
    const { controlPlane, edges } = gateway()
    const edge = edges[0]
    if (edge?.postgresProxy == null || controlPlane.redisProxy === null) throw new Error('an edge behind proxies')
    const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
    expect(await read(edge.url, token)).toBe(200)
    await edge.postgresProxy.cut()
    await sleep(2 * 3_000)
    expect(await read(edge.url, token)).toBe(200)
    await controlPlane.redisProxy.cut()
    const disabled = await fetch(`${controlPlane.url}/api/v1/admin/tokens/${id}/disable`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    const { pending } = (await disabled.json()) as DisabledToken
    expect(pending).toHaveLength(1)
    while ((await read(edge.url, token)) === 200) await sleep(50)
    // The control plane has Redis again, and attests a state that the edge has not applied.
    await controlPlane.redisProxy.restore()
    await sleep(3_000)
    expect(await read(edge.url, token)).toBe(503)
    await edge.postgresProxy.restore()
    while ((await read(edge.url, token)) !== 401) await sleep(50)
  })
})

describe('with an edge that reaches only the bus, and a control plane that lost the store', () => {
  const gateway = useGateway(
    { edges: 1, redis: 'proxy', postgres: 'proxy', env: { TOKEN_STALE_SECONDS: '3', TOKEN_OFFLINE_SECONDS: '3' } },
    prepare,
  )

  test('a token that another control plane disables, without Redis, ends with TOKEN_OFFLINE_SECONDS', async () => {
    gateway().allowErrors(/ECONN|connect|store|bus|time|CONNECTION/i)
    const { controlPlane, edges } = gateway()
    const edge = edges[0]
    if (edge?.postgresProxy == null || controlPlane.postgresProxy === null) throw new Error('an edge behind proxies')
    const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
    expect(await read(edge.url, token)).toBe(200)
    await Promise.all([edge.postgresProxy.cut(), controlPlane.postgresProxy.cut()])
    // The other control plane reaches only the store.
    await withConnection(gateway().database.url, (sql) => sql`UPDATE tokens SET disabled_at = now() WHERE id = ${id}`)
    while ((await read(edge.url, token)) === 200) await sleep(50)
    expect(await read(edge.url, token)).toBe(503)
    await Promise.all([edge.postgresProxy.restore(), controlPlane.postgresProxy.restore()])
  })
})

describe('with the control plane gone', () => {
  const gateway = useGateway({ edges: 1 }, prepare)

  test('tiles still work, everything else returns 503, and administration recovers', async () => {
    const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
    await gateway().controlPlane.process.kill()
    expect(await read(gateway().url, token)).toBe(200)
    const answer = await gateway().admin.call('/tokens')
    expect(answer.status).toBe(503)
    expect(answer.body).toEqual({ error: expect.any(String) })
    gateway().controlPlane.process.start()
    await gateway().ready()
    expect((await gateway().admin.call('/tokens')).status).toBe(200)
  })
})
