import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-held-'))
const TILE = randomBytes(3_000)
const preview = createToken()
let running: RunningEdge

beforeAll(async () => {
  for (const version of ['v1', 'v2']) {
    fs.mkdirSync(path.join(home, version, '0/0'), { recursive: true })
    fs.writeFileSync(path.join(home, version, '0/0/0.png'), TILE)
  }
  const v1 = storedVersion('v1', { path: path.join(home, 'v1'), maxZoom: 1 })
  const v2 = storedVersion('v2', { path: path.join(home, 'v2'), maxZoom: 1, withdrawn: true, review: 'held' })
  const rows = [storedBasemap('world', [v1, v2], { sourcePath: home, defaultVersion: 'v1' })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://[::1]:1' })
  const limits = { origins: new Set<string>(), networks: [], rate: null, area: null }
  running.storedTokens.set(tokenDigest(preview).toString('hex'), { ...READER, id: 'preview', readsHeld: true, limits })
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

const ask = (address: string, token: string) => fetch(running.url + address, { headers: { 'x-access-token': token } })
const statusOf = async (address: string, token: string) => (await ask(address, token)).status

test('only a preview of the console reads a held version, no other token, even in repeated requests', async () => {
  for (let round = 0; round < 5; round++) {
    for (const address of ['/tiles/world/v2/0/0/0.png', '/tiles/world/v2/tilejson.json'])
      expect([address, await statusOf(address, preview), await statusOf(address, running.token)]).toEqual([
        address,
        200,
        404,
      ])
    expect(await statusOf('/tiles/world/v1/0/0/0.png', running.token)).toBe(200)
  }
  const answer = await ask('/tiles/world/v2/0/0/0.png', preview)
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  expect(Buffer.from(await answer.arrayBuffer()).equals(TILE)).toBe(true)
})

test('a held version is not shown to readers', async () => {
  const missing = await ask('/tiles/world/v9/0/0/0.png', running.token)
  expect(await missing.text()).not.toContain('v2')
  const listed = await ask('/api/v1/catalog/basemaps/world', running.token)
  expect(await listed.text()).not.toContain('"v2"')
})
