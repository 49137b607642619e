import { join } from 'node:path'
import type { UsageItem, UsageKind } from '@gateway/contracts/usage.js'
import { isReady } from '@gateway/core/processes/readiness.js'
import { expect, test } from 'vitest'
import { Admin } from '../harness/admin.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import type { Gateway } from '../harness/gateway.js'
import { type LoadBalancer, startHaproxy, startNginx } from '../harness/load-balancers.js'
import { SteadyLoad } from '../harness/steady-load.js'
import { useGateway } from '../harness/use-gateway.js'

/** One round covers both edges. By hand: ROLLING_RESTARTS=10 npm test -- test/fault/rolling-restart */
const RESTARTS = Number(process.env.ROLLING_RESTARTS ?? 1)

let token = ''
let tokenId = ''

async function prepare(gateway: Gateway): Promise<void> {
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 3 })
  await makeGeojson(join(gateway.home, 'vectors/points.geojson'), 1_000)
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  await gateway.admin.scanSource('vectors', 'vector', join(gateway.home, 'vectors'))
  const issued = await gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })
  token = issued.token
  tokenId = issued.id
}

// Tests the default settings for the stop of an edge, except for one.
const gateway = useGateway({ edges: 2, edgeWorkers: 2, env: { DRAIN_NOTICE_SECONDS: '2' } }, prepare)

const PATHS = [
  ...Array.from({ length: 64 }, (_, i) => `/tiles/world/v1/3/${i >> 3}/${i & 7}.png`),
  ...Array.from({ length: 8 }, () => '/geojson/points.geojson'),
  '/api/v1/catalog/basemaps',
]

/** Timeout for two starts and two stops under load: twenty seconds, and much longer on a busy machine. */
const UNDER_LOAD = { timeout: 60_000 + 120_000 * RESTARTS }

test(
  'rolling restarts of two edges behind nginx and behind HAProxy lose no request, and each is accounted once',
  UNDER_LOAD,
  async ({ annotate }) => {
    const urls = gateway().edges.map(({ url }) => url)
    const balancers = { nginx: await startNginx(urls), haproxy: await startHaproxy(urls) }
    for (const { url } of Object.values(balancers)) while (!(await isReady(`${url}/ready`))) await pause(50)
    while (!(await balancers.haproxy.usesAll())) await pause(50)
    const load = (balancer: LoadBalancer) =>
      new SteadyLoad(
        PATHS.map((path) => balancer.url + path),
        { 'x-access-token': token },
      )
    const loads = { nginx: load(balancers.nginx), haproxy: load(balancers.haproxy) }
    for (let i = 0; i < RESTARTS; i++) {
      for (const { process, url } of gateway().edges) {
        process.signal('SIGTERM')
        expect(await process.ended()).toEqual({ code: 0, signal: null })
        process.start()
        while (!(await isReady(`${url}/ready`))) await pause(20)
        // Waits like an operator before the next restart; otherwise no edge would be left.
        while (!(await balancers.haproxy.usesAll())) await pause(20)
      }
    }
    const results = { nginx: await loads.nginx.stop(), haproxy: await loads.haproxy.stop() }
    for (const { stop } of Object.values(balancers)) await stop()
    await annotate(`answered behind nginx: ${results.nginx.answered}, behind HAProxy: ${results.haproxy.answered}`)
    expect([results.nginx.failures, results.haproxy.failures]).toEqual([{}, {}])
    // A stopping edge reports its counts at once.
    for (const { process } of gateway().edges) process.signal('SIGTERM')
    for (const { process } of gateway().edges) expect(await process.ended()).toEqual({ code: 0, signal: null })
    const answered = results.nginx.answered + results.haproxy.answered
    const [ofToken, ofWorld, ofVersion, ofPoints] = await Promise.all(
      (['token', 'basemap', 'version', 'vector'] as const).map(usageBy),
    )
    expect(ofToken).toMatchObject({ id: tokenId, requests: answered, tiles: ofWorld?.tiles, tile_404: 0, refused: 0 })
    expect([ofWorld, ofVersion]).toMatchObject([{ id: 'world' }, { id: 'world/v1', tiles: ofWorld?.requests }])
    // The remaining requests are lists of the catalog.
    expect((ofWorld?.requests ?? 0) + (ofPoints?.requests ?? 0)).toBeLessThan(answered)
  },
)

/** Returns the usage of the only token, basemap, version or vector. */
async function usageBy(by: UsageKind): Promise<UsageItem | undefined> {
  const { controlPlane, adminToken } = gateway()
  const path = `/usage?by=${by}&step=total&sort=-requests`
  const { items } = await new Admin(controlPlane.url, adminToken).expect<{ items: UsageItem[] }>(path)
  expect(items).toHaveLength(1)
  return items[0]
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
