import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { upsertVersion } from '@gateway/store/basemaps.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillCatalog } from '../../testing/catalog.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

let home: string
let gateway: TestApp
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'comparison-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  const { sql } = gateway.ctx
  await fillCatalog(sql, home)
  // The same folder again, and one in another grid.
  await sql.begin(async (tx) => {
    const like = {
      storage: 'xyz',
      format: 'png',
      extension: 'png',
      tileSize: 256,
      minZoom: 2,
      maxZoom: 2,
      bounds: null,
      boundsDerived: false,
      rowsFromNorth: false,
      name: null,
      attribution: null,
      description: null,
      vectorLayers: null,
      metadata: {},
      path: path.join(home, 'maps/world/v1'),
      fingerprint: 'again',
    } as const
    await upsertVersion(tx, 'world', { ...like, version: 'again', tileMatrixSet: 'WebMercatorQuad' })
    await upsertVersion(tx, 'world', { ...like, version: 'degrees', tileMatrixSet: 'WorldCRS84Quad' })
  })
})
afterAll(async () => {
  await gateway.close()
  rmSync(home, { recursive: true })
})

const compare = (query: string, code = 'world') =>
  gateway.admin({ method: 'GET', url: `/api/v1/admin/basemaps/${code}/comparison?${query}` })

test('two versions are compared tile by tile', async () => {
  const answer = await compare('left=v1&right=again')
  expect(answer.json()).toEqual({
    left: 'v1',
    right: 'again',
    complete: true,
    zooms: [{ zoom: 2, addresses: 16, step: 1, compared: 16, same: 16, different: [], only_left: [], only_right: [] }],
  })
  expect((await compare('left=v1&right=again&zoom_min=3')).json().zooms).toEqual([])
})

test('versions that cannot be compared are refused with the reason', async () => {
  const refused = async (query: string, code?: string) => {
    const answer = await compare(query, code)
    return [answer.statusCode, answer.json().error]
  }
  expect(await refused('left=v1&right=none')).toEqual([404, 'no such version'])
  expect(await refused('left=v1&right=v2', 'none')).toEqual([404, 'no such basemap'])
  expect(await refused('left=v1')).toEqual([400, expect.stringContaining('query.right')])
  expect(await refused('left=v1&right=degrees')).toEqual([409, expect.stringContaining('different grids')])
  // A file with the name of an archive, but other content.
  expect(await refused('left=v1&right=v2')).toEqual([
    409,
    'the versions cannot be compared: this is not an SQLite database',
  ])
})

test('at most two comparisons run at the same time', async () => {
  const atOnce = async () => {
    const all = await Promise.all([1, 2, 3].map(() => compare('left=v1&right=again')))
    return all.map(({ statusCode }) => statusCode).sort()
  }
  // A third comparison is accepted once one of the others has ended.
  await expect.poll(atOnce).toEqual([200, 200, 429])
})
