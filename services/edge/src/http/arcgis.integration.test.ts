import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { expect, test } from 'vitest'
import { READER, takeUsage } from '../testing/running-edge.js'
import { ask, running, SMALL, useServingEdge } from '../testing/serving-edge.js'

useServingEdge()

const SERVICES = '/arcgis/rest/services'

async function json(address: string, headers = {}) {
  const { status, body } = await ask(address, { headers })
  return { status, json: JSON.parse(body.toString()) }
}

test('the list of services has each basemap under its type', async () => {
  const { json: list } = await json(`${SERVICES}?f=json`)
  expect(list).toMatchObject({ currentVersion: 10.91, folders: [] })
  expect(list.services).toEqual([
    { name: 'raster', type: 'MapServer' },
    { name: 'vector', type: 'VectorTileServer' },
  ])
  expect((await json('/arcgis/rest/info')).json.authInfo).toEqual({ isTokenBasedSecurity: true })
})

test('the server information needs no token, whatever a client sends, and nothing else is open', async () => {
  const without = (address: string, headers = {}) => ask(address, { headers: { 'x-access-token': '', ...headers } })
  for (const address of [
    '/arcgis/rest/info',
    '/ArcGIS/REST/INFO?f=pjson',
    '/arcgis/rest/info?f=json&token=bmp_nothing',
  ])
    for (const method of ['GET', 'HEAD']) {
      const { status, body } = await ask(address, { headers: { 'x-access-token': '' }, method })
      expect([address, status]).toEqual([address, 200])
      if (method === 'GET') expect(JSON.parse(String(body)).authInfo).toEqual({ isTokenBasedSecurity: true })
    }
  for (const address of [SERVICES, '/arcgis/rest/info/more', '/arcgis/rest'])
    expect([address, (await without(address)).status]).toEqual([address, 401])
  const asked = { 'x-original-uri': '/arcgis/rest/info' }
  expect((await without('/api/v1/forward-auth', asked)).status).toBe(200)
})

test("a token in Esri's own header opens the addresses of ArcGIS, and no others", async () => {
  const headers = { 'x-access-token': '', 'x-esri-authorization': `Bearer ${running.token}` }
  const tile = `${SERVICES}/raster/MapServer/tile/0/0/0`
  for (let i = 0; i < 3; i++) {
    expect((await ask(`${SERVICES}?f=json`, { headers })).status).toBe(200)
    const { status, headers: sent } = await ask(tile, { headers })
    expect([status, sent.vary]).toEqual([200, 'Authorization, X-Access-Token, X-Esri-Authorization'])
    expect((await ask('/tiles/raster/current/0/0/0.png', { headers })).status).toBe(401)
    expect((await ask('/ogc', { headers })).status).toBe(401)
    expect((await ask(tile, { headers: { 'x-access-token': '' } })).status).toBe(401)
  }
  const two = { ...headers, 'x-access-token': createToken() }
  expect((await ask(tile, { headers: two })).status).toBe(400)
  for (const [address, status] of [
    [tile, 200],
    ['/tiles/raster/current/0/0/0.png', 401],
  ] as const)
    expect((await ask('/api/v1/forward-auth', { headers: { ...headers, 'x-original-uri': address } })).status).toBe(
      status,
    )
})

test('a map service has the levels of Esri, and keywords in its address are case-insensitive', async () => {
  const { json: service } = await json(`${SERVICES}/raster/MapServer?f=json`)
  const { tileInfo } = service
  expect(tileInfo).toMatchObject({ rows: 256, cols: 256, dpi: 96, origin: { x: -20037508.342787, y: 20037508.342787 } })
  expect(tileInfo.spatialReference).toEqual({ wkid: 102100, latestWkid: 3857 })
  expect(tileInfo.lods).toHaveLength(5)
  expect(tileInfo.lods[0]).toEqual({
    level: 0,
    resolution: 156543.03392800014,
    scale: expect.closeTo(591657527.591555, 4),
  })
  expect(tileInfo.lods[4].resolution).toBeCloseTo(9783.93962049996, 8)
  expect(service).toMatchObject({ singleFusedMapCache: true, minScale: tileInfo.lods[0].scale })
  expect(service.maxScale).toBe(tileInfo.lods[4].scale)
  for (const address of ['/ArcGIS/REST/Services/raster/mapserver?F=JSON', `${SERVICES}/raster/MapServer/?f=html`])
    expect((await json(address)).json).toEqual(service)
})

test('a tile of a map service is the tile of the tile route, with its headers and usage', async () => {
  takeUsage(running)
  const plain = await ask('/tiles/raster/current/0/0/0.png')
  const usage = takeUsage(running)
  const tile = await ask(`${SERVICES}/raster/MapServer/tile/0/0/0`)
  expect(takeUsage(running)).toEqual(usage)
  expect(tile.body.equals(SMALL)).toBe(true)
  const vary = 'Authorization, X-Access-Token, X-Esri-Authorization'
  expect({ ...tile.headers, date: '' }).toEqual({ ...plain.headers, vary, date: '' })
  const again = await ask(`${SERVICES}/raster/MapServer/tile/0/0/0`, {
    headers: { 'if-none-match': plain.headers.etag },
  })
  expect(again.status).toBe(304)
  expect((await ask(`${SERVICES}/vector/VectorTileServer/tile/0/0/0.pbf`)).headers['content-encoding']).toBe(undefined)
})

test('a tilemap shows which tiles exist', async () => {
  const { json: map } = await json(`${SERVICES}/raster/MapServer/tilemap/1/0/0/2/2`)
  expect(map).toEqual({
    valid: true,
    adjusted: false,
    location: { left: 0, top: 0, width: 2, height: 2 },
    data: [1, 0, 0, 0],
  })
  const large = (await json(`${SERVICES}/raster/MapServer/tilemap/1/0/0/128/64?f=json`)).json
  expect([large.adjusted, large.location.width, large.location.height, large.data.length]).toEqual([true, 32, 32, 1024])
  for (const wrong of ['1/0/0/2', '1/0/0/0/2', 'x/0/0/1/1', '1/0/0/99999999999/1'])
    expect((await json(`${SERVICES}/raster/MapServer/tilemap/${wrong}`)).status, wrong).toBe(400)
})

test('a vector tile service names its tiles and a style, with the token only if the query had it', async () => {
  const { json: service } = await json(`${SERVICES}/vector/VectorTileServer?f=json`)
  expect(service).toMatchObject({ type: 'indexedVector', tiles: ['tile/{z}/{y}/{x}.pbf'], maxzoom: 4 })
  expect(service.tileInfo).toMatchObject({ rows: 512, lods: { 0: { resolution: 78271.51696400007 } } })
  const { token } = running
  const asked = (await json(`${SERVICES}/vector/VectorTileServer?token=${token}`, { 'x-access-token': '' })).json
  expect(asked.tiles).toEqual([`tile/{z}/{y}/{x}.pbf?token=${token}`])
  const { json: style } = await json(`${SERVICES}/vector/VectorTileServer/resources/styles/root.json`)
  expect(style).toMatchObject({ version: 8, sources: { esri: { type: 'vector', url: '../../' } } })
})

test.each([
  ['a missing token', `${SERVICES}/raster/MapServer`, { 'x-access-token': '' }, 401, 499],
  ['an unknown token', `${SERVICES}/raster/MapServer`, { 'x-access-token': createToken() }, 401, 498],
  ['a missing basemap', `${SERVICES}/nothing/MapServer`, {}, 404, 404],
  ['a service of the other type', `${SERVICES}/vector/MapServer`, {}, 404, 404],
  ['an export', `${SERVICES}/raster/MapServer/export?bbox=0,0,1,1&f=image`, {}, 400, 400],
  ['an export as JSON', `${SERVICES}/raster/MapServer/export?bbox=0,0,1,1&f=json`, {}, 400, 400],
  ['another form', `${SERVICES}/raster/MapServer?f=kmz`, {}, 400, 400],
  ['a missing tile', `${SERVICES}/raster/MapServer/tile/1/1/1`, {}, 404, 404],
  ['an invalid tile address', `${SERVICES}/raster/MapServer/tile/1/x/1`, {}, 400, 400],
  ['another address', '/arcgis/rest/admin', {}, 404, 404],
] as const)('%s is refused in the form of Esri', async (_, address, headers, status, code) => {
  const answer = await json(address, headers)
  expect(answer).toEqual({ status, json: { error: { code, message: expect.any(String), details: [] } } })
})

test('an export of an image is refused by its name', async () => {
  for (const form of ['image', 'json', 'html'])
    expect((await json(`${SERVICES}/raster/MapServer/export?bbox=0,0,1,1&f=${form}`)).json.error.message).toContain(
      'export',
    )
})

test('a service without a grant returns 403 rather than 404, and another method 405, in the form of Esri', async () => {
  const token = createToken()
  const stored = { ...READER, id: 'other', basemaps: new Set(['other']) }
  running.storedTokens.set(tokenDigest(token).toString('hex'), stored)
  for (const path of ['raster/MapServer', 'raster/MapServer/tile/0/0/0', 'nothing/MapServer/tilemap/0/0/0/1/1'])
    expect(await json(`${SERVICES}/${path}`, { 'x-access-token': token })).toMatchObject({
      status: 403,
      json: { error: { code: 403 } },
    })
  const { status, body } = await ask(SERVICES, { method: 'DELETE' })
  expect([status, JSON.parse(body.toString()).error.code]).toEqual([405, 405])
})
