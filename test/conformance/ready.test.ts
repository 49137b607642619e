import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import type { Gateway } from '../harness/gateway.js'
import { startGateway } from '../harness/start-gateway.js'
import { metric } from './maps.js'

/** Time after which a control plane is ready even without its first scans, which are slow on a busy machine. */
const SCANS_AWAITED_SECONDS = 10

let data: string
let gateway: Gateway
let isLate: boolean

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'gateway-roots-'))
  await makeTileFolder(join(data, 'basemaps/world/2026-01'))
  await makeGeojson(join(data, 'vectors/countries.geojson'))
  const env = { BASEMAP_ROOTS: join(data, 'basemaps'), VECTOR_ROOTS: join(data, 'vectors') }
  gateway = await startGateway({ edgeWorkers: 3, env })
  const metrics = await (await fetch(`${gateway.controlPlane.url}/metrics`)).text()
  // The process began to wait a moment after its start, so its uptime is only an upper bound.
  isLate = metric(metrics, 'gateway_control_uptime_seconds') > SCANS_AWAITED_SECONDS
})

afterAll(async () => {
  await gateway?.stop()
  await rm(data, { recursive: true, force: true })
})

/** Expects the value at once, or polls for it if the gateway became ready only by the time limit. */
async function expectOf<T>(value: () => Promise<T>, expected: T): Promise<void> {
  if (isLate) await expect.poll(value).toEqual(expected)
  else expect(await value()).toEqual(expected)
}

test('a ready gateway has scanned BASEMAP_ROOTS and VECTOR_ROOTS, and no scan is running', async () => {
  const listed = async () => {
    const basemaps = await gateway.admin.expect<{ items: { code: string }[] }>('/basemaps')
    const vectors = await gateway.admin.expect<{ items: { code: string }[] }>('/vectors')
    return [...basemaps.items, ...vectors.items].map(({ code }) => code)
  }
  await expectOf(listed, ['world', 'countries'])
  await expectOf(async () => (await gateway.admin.call('/vectors/rescan', { method: 'POST' })).status, 200)
})

test('a ready gateway serves from each of its processes', async () => {
  const { token } = await gateway.issueToken({ name: 'ready', basemap_codes: ['world'] })
  const headers = { 'X-Access-Token': token, Connection: 'close' }
  const tile = () => fetch(`${gateway.url}/tiles/world/current/0/0/0.png`, { headers })
  const answers = await Promise.all(Array.from({ length: 30 }, tile))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
})
