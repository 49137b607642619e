import { join } from 'node:path'
import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import type { Export } from '@gateway/contracts/export.js'
import type { PushRecord } from '@gateway/contracts/push.js'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { makePmtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { useGateway } from '../harness/use-gateway.js'

const TOKEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const near = useGateway({ env: { RETRY_WAITS: '1' } }, async (gateway) => {
  await makeTileFolder(join(gateway.home, 'maps/world/2026-01'), { shade: 40 })
  await makePmtiles(join(gateway.home, 'maps/world/2026-02.pmtiles'), { shade: 80 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'maps'))
})
const far = useGateway({ env: { IMPORT_TOKEN: TOKEN } })

async function push(target: object, version: string): Promise<PushRecord & { attempt_log: { answer: string }[] }> {
  await near().admin.expect('/targets', { body: { code: 'far', ...target } })
  const body = { target_code: 'far', basemap_code: 'world', version }
  const { id } = await near().admin.expect<PushRecord>('/pushes', { body })
  for (;;) {
    const record = await near().admin.expect<PushRecord & { attempt_log: { answer: string }[] }>(`/push-records/${id}`)
    if (record.next_attempt_at === null) return record
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function tile(gateway: Gateway, version: string): Promise<{ status: number; bytes: Buffer }> {
  const { token } = await gateway.issueToken({ basemap_codes: ['*'] })
  const answer = await fetch(`${gateway.url}/tiles/world/${version}/2/1/3.png?token=${token}`)
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test.each(['2026-01', '2026-02'])('version %s, pushed over HTTP, is served by the other gateway', async (version) => {
  const url = `${far().controlPlane.url}/api/v1/import`
  const record = await push({ kind: 'http', mode: 'upload', url, secret: TOKEN }, version)
  expect(record, record.attempt_log[0]?.answer).toMatchObject({ status: 'succeeded' })
  await far().caughtUp()
  const [here, there] = [await tile(near(), version), await tile(far(), version)]
  expect(there.status).toBe(200)
  expect(there.bytes.equals(here.bytes)).toBe(true)
})

test('a version copied into a scan source of the other gateway is served there after a scan', async () => {
  const shelf = join(far().dataDir, 'imports/basemaps')
  const record = await push({ kind: 'directory', path: shelf }, '2026-01')
  expect(record).toMatchObject({ status: 'succeeded' })
  await far().admin.rescan('imports')
  expect((await tile(far(), '2026-01')).status).toBe(200)
})

/** The descriptions by which the other gateway finds the tiles of a basemap, without the token, and its layer there. */
const SERVICES = {
  wmts: ['/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', 'world'],
  'wmts-rest': ['/wmts/1.0.0/WMTSCapabilities.xml', 'world'],
  tilejson: ['/tiles/world/tilejson.json', null],
  xyz: ['/tiles/world/current/{z}/{x}/{y}.png', null],
  ogc: ['/ogc', 'world'],
  arcgis: ['/arcgis/rest/services/world/MapServer', null],
  tianditu: ['/tianditu/world_w/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', 'world'],
  wms: ['/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities', 'world'],
  'wms-111': ['/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities', 'world'],
} as const

/** Makes a service of the first gateway a scan source of the second; returns the code of its basemap there. */
async function takeService(name: keyof typeof SERVICES): Promise<string> {
  const [address, layer] = SERVICES[name]
  const { token } = await near().issueToken({ basemap_codes: ['world'] })
  // Half of the sources send the token as a header, and half in the query.
  const isInQuery = address.includes('?')
  const url = `${near().url}${address}${isInQuery ? `&token=${token}` : ''}`
  const headers = isInQuery ? {} : { Authorization: `Bearer ${token}` }
  const layers = layer === null ? {} : { layers: [{ name: layer, code: name }] }
  const options = { max_zoom: 2 }
  await far().admin.expect('/scan-sources', { body: { code: name, kind: 'service', url, headers, options, ...layers } })
  await far().admin.rescan(name)
  return name
}

async function pixels(bytes: Buffer) {
  return sharp(bytes).ensureAlpha().raw().toBuffer()
}

test.each(Object.keys(SERVICES) as (keyof typeof SERVICES)[])(
  'a gateway that reads another by %s has its tiles',
  async (name) => {
    const code = await takeService(name)
    const asked = { token: (await near().issueToken({ basemap_codes: ['*'] })).token }
    const { token } = await far().issueToken({ basemap_codes: ['*'] })
    for (const place of ['1/1/0', '2/1/3', '2/3/0']) {
      const here = await fetch(`${near().url}/tiles/world/current/${place}.png?token=${asked.token}`)
      const there = await fetch(`${far().url}/tiles/${code}/live/${place}.png?token=${token}`)
      const [own, taken] = [Buffer.from(await here.arrayBuffer()), Buffer.from(await there.arrayBuffer())]
      expect(there.status, `${place} ${taken.toString('utf8', 0, 200)}`).toBe(200)
      if (name.startsWith('wms-') || name === 'wms')
        expect((await pixels(taken)).equals(await pixels(own)), place).toBe(true)
      else expect(taken.equals(own), place).toBe(true)
    }
  },
)

test('tiles that were fetched ahead from another gateway are served as a version without it, like any other', async () => {
  const { admin } = far()
  await takeService('xyz')
  const ended = async <Job extends { status: string }>(job: string): Promise<Job> => {
    const state = () => admin.expect<Job>(job)
    await expect.poll(async () => (await state()).status, { timeout: 60_000 }).toMatch(/succeeded|failed/)
    return state()
  }
  const area = { basemap_code: 'xyz', version: 'live', bounds: [-170, 10, 170, 60] }
  const seed = await admin.expect<{ id: string }>('/seeds', { body: { ...area, min_zoom: 0, max_zoom: 2, rate: 1000 } })
  expect(await ended(`/seeds/${seed.id}`)).toMatchObject({ status: 'succeeded', total: 7, done: 7, failed: 0 })
  const { id } = await admin.expect<Export>('/exports', { body: { ...area, publish_as: 'kept' } })
  expect(await ended(`/exports/${id}`)).toMatchObject({ status: 'succeeded', message: '' })
  await admin.rescan('xyz')
  const { token } = await far().issueToken({ basemap_codes: ['xyz'] })
  const get = (address: string) => fetch(`${far().url}${address}`, { headers: { authorization: `Bearer ${token}` } })
  const tilejson = (await (await get('/tiles/xyz/kept/tilejson.json')).json()) as { tiles: string[] }
  expect(tilejson).toMatchObject({ minzoom: 0, maxzoom: 2 })
  const [template = ''] = tilejson.tiles
  const address = template.replace('{z}/{x}/{y}', '2/1/1').replace(/^https?:\/\/[^/]+/, '')
  const kept = await get(address)
  expect([kept.status, kept.headers.get('cache-control')]).toEqual([200, expect.stringContaining('immutable')])
  const there = await get('/tiles/xyz/live/2/1/1.png')
  expect(Buffer.from(await kept.arrayBuffer()).equals(Buffer.from(await there.arrayBuffer()))).toBe(true)
  expect((await get('/tiles/xyz/kept/2/1/3.png')).status).toBe(404)
  // It becomes the default, and is deleted, like any other version.
  await admin.expect('/basemaps/xyz/default-version', { body: { version: 'kept' } })
  expect((await get('/tiles/xyz/current/2/1/3.png')).status).toBe(404)
  const wmts =
    '/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile&STYLE=default&LAYER=xyz&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX=2'
  const byWmts = await get(`${wmts}&TILEROW=1&TILECOL=1&FORMAT=image/png`)
  expect(byWmts.status, await byWmts.text()).toBe(200)
  expect((await get(`/tiles/xyz/current/2/1/1.png?at=${new Date().toISOString()}`)).status).toBe(200)
  await admin.expect('/basemaps/xyz/default-version', { body: { version: 'live' } })
  await admin.expect<AdminBasemapVersion>('/basemaps/xyz/versions/kept', { method: 'DELETE' })
  expect((await get('/tiles/xyz/kept/2/1/1.png')).status).toBe(404)
})
