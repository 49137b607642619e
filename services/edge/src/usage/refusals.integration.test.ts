import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseRanges } from '@gateway/core/access/client-address.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge, takeUsage } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-refusals-'))
let running: RunningEdge
beforeAll(async () => {
  const rows = [
    storedBasemap('alps', [storedVersion('v1', { path: home, maxZoom: 1 })], {
      sourcePath: home,
      defaultVersion: 'v1',
    }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  running = await runEdge({
    port: await freePort(),
    env: {},
    catalog,
    dataDir: home,
    controlPlane: 'http://[::1]:1',
  })
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

test.each([
  ['grant', { basemaps: new Set(['other']) }],
  ['scope', { scopes: new Set<'read'>() }],
  ['expired', { expiresAtMs: 1 }],
  ['disabled', { disabled: true }],
  [
    'origin',
    {
      limits: {
        origins: new Set(['https://maps.example.com']),
        networks: [],
        rate: null,
        area: null,
      },
    },
  ],
  [
    'network',
    {
      limits: {
        origins: new Set<string>(),
        networks: parseRanges(['192.0.2.0/24']),
        rate: null,
        area: null,
      },
    },
  ],
])('each refusal for %s is counted for the token, the map and both, with its reason', async (reason, more) => {
  const token = createToken()
  running.storedTokens.set(tokenDigest(token).toString('hex'), {
    ...READER,
    id: reason,
    ...more,
  })
  for (let i = 0; i < 5; i++) {
    const answer = await fetch(`${running.url}/tiles/alps/v1/0/0/0.png`, {
      headers: { 'X-Access-Token': token },
    })
    expect([401, 403]).toContain(answer.status)
  }
  const rows = takeUsage(running).map((row) => JSON.parse(row))
  const told = rows.map(({ kind, id, requests, refused, refusedBy }) => [kind, id, requests, refused, refusedBy])
  const by = [[reason, 5]]
  expect(told).toEqual([
    ['basemap', 'alps', 5, 5, by],
    ['token', reason, 5, 5, by],
    ['token,basemap', `${reason}/alps`, 5, 5, by],
    ['version', 'alps/v1', 5, 5, by],
  ])
})
