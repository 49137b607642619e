import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedVector } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'building-vectors-'))
let running: RunningEdge

beforeAll(async () => {
  const built = storedVector('built')
  const queued = { ...built.tiles, queued: true }
  const rows = [
    built,
    storedVector('queued', { tiles: queued }),
    storedVector('away', { tiles: queued, withdrawn: true }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [] }, { codes: null, rows })
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://127.0.0.1:1' })
})
afterAll(async () => {
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

const ask = (address: string) => fetch(running.url + address, { headers: { 'x-access-token': running.token } })

test.each(['tilejson.json', 'tiles/0/0/0.mvt'])(
  'the first %s of a vector that is being built may be asked for again, and one without tiles returns 404',
  async (what) => {
    const answer = await ask(`/vectors/queued/${what}`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.headers.get('cache-control') ?? 'no-store').toContain('no-store')
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('are being built') })
    for (const code of ['built', 'away'])
      expect([code, (await ask(`/vectors/${code}/${what}`)).status]).toEqual([code, 404])
  },
)
