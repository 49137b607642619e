import { gzipSync } from 'node:zlib'
import { loadSettings } from '@gateway/core/settings/load.js'
import { expect, test } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import {
  ask,
  GEOJSON,
  hotTileHits,
  running,
  SMALL,
  untilHot,
  useServingEdge,
  VECTOR_TILE,
} from '../testing/serving-edge.js'

useServingEdge()

test('a tile that is requested repeatedly is sent from memory, with the same bytes and headers', async () => {
  const first = await ask('/tiles/raster/0/0/0.png')
  await untilHot('/tiles/raster/0/0/0.png')
  const before = hotTileHits()
  const hot = await ask('/tiles/raster/0/0/0.png')
  expect(hotTileHits()).toBe(before + 1)
  expect(first.body.equals(SMALL) && hot.body.equals(SMALL)).toBe(true)
  expect({ ...hot.headers, date: '' }).toEqual({ ...first.headers, date: '' })
})

test('a revision in the query changes nothing: the same hot tile, with the token in any place', async () => {
  const tile = '/tiles/raster/0/0/0.png'
  const { token } = running
  await untilHot(tile)
  const lean = await ask(tile)
  for (const [query, headers] of [
    ['?v=3', {}],
    [`?v=3&token=${token}`, { 'x-access-token': '' }],
    [`?access_token=${token}&v=4`, { 'x-access-token': '' }],
  ] as const) {
    const before = hotTileHits()
    const revised = await ask(tile + query, { headers })
    expect(hotTileHits(), query).toBe(before + 1)
    expect({ ...revised.headers, date: '' }).toEqual({ ...lean.headers, date: '' })
    expect(revised.body.equals(SMALL)).toBe(true)
  }
})

test('a tile in memory is not read again for requests in another form', async () => {
  const { token } = running
  const tile = '/tiles/raster/0/0/0.png'
  const asBasic = { authorization: `Basic ${Buffer.from(`user:${token}`).toString('base64')}`, 'x-access-token': '' }
  const byJavaScript = { 'if-match': '*' }
  // Puts the tile again: one from an earlier test would be checked again during this one, some 10 s later.
  running.edge.hotTiles.drop(tile)
  running.edge.native.follow(EMPTY_CATALOG)
  for (const headers of [{}, byJavaScript]) await untilHot(tile, headers)
  for (const headers of [{}, asBasic, byJavaScript, { ...asBasic, ...byJavaScript }]) {
    for (const method of ['GET', 'HEAD']) {
      const before = hotTileHits()
      const { status } = await ask(tile, { method, headers })
      expect([status, hotTileHits()], `${method} ${Object.keys(headers)}`).toEqual([200, before + 1])
    }
  }
})

test('every answer about a tile varies by the headers that carry tokens, in one line', async () => {
  const found = await ask('/tiles/raster/0/0/0.png')
  const answers = [
    found,
    await ask('/tiles/raster/1/0/0.png'),
    await ask('/tiles/raster/0/0/0.png', { method: 'HEAD' }),
    await ask('/tiles/raster/0/0/0.png', { headers: { 'if-none-match': found.headers.etag ?? '' } }),
  ]
  expect(answers.map(({ status, headers }) => [status, headers.vary])).toEqual(
    [200, 200, 200, 304].map((status) => [status, 'Authorization, X-Access-Token']),
  )
})

test('TILE_CACHE_CONTROL and CURRENT_CACHE_CONTROL replace the default of a year', async () => {
  const YEAR = 'public, max-age=31536000, immutable'
  const addresses = ['/tiles/raster/v1/0/0/0.png', '/tiles/raster/current/0/0/0.png', '/tiles/raster/0/0/0.png']
  const { edge } = running
  const { settings } = edge
  const forget = () => {
    for (const address of addresses) edge.hotTiles.drop(address)
    edge.native.follow(EMPTY_CATALOG)
  }
  const values = async (env: NodeJS.ProcessEnv) => {
    // The cached tiles have been prepared with the previous settings.
    Object.assign(edge, { settings: loadSettings({ ...env, CONFIG_FILE: '/nonexistent' }) })
    forget()
    return Promise.all(addresses.map(async (address) => (await ask(address)).headers['cache-control']))
  }
  expect(await values({})).toEqual([YEAR, YEAR, YEAR])
  expect(await values({ TILE_CACHE_CONTROL: 'private, max-age=60' })).toEqual(Array(3).fill('private, max-age=60'))
  expect(await values({ CURRENT_CACHE_CONTROL: 'no-cache' })).toEqual([YEAR, 'no-cache', 'no-cache'])
  expect(await values({ TILE_CACHE_CONTROL: 'private', CURRENT_CACHE_CONTROL: 'no-store' })).toEqual([
    'private',
    'no-store',
    'no-store',
  ])
  Object.assign(edge, { settings })
  forget()
})

test('HEAD has the headers of GET, of small tiles, large tiles and downloads', async () => {
  for (const address of [
    '/tiles/raster/0/0/0.png',
    '/tiles/raster/1/0/0.png',
    '/geojson/points.geojson',
    '/shp/roads.shp',
  ]) {
    const get = await ask(address)
    const head = await ask(address, { method: 'HEAD' })
    expect(get.status, address).toBe(200)
    expect(head.body).toHaveLength(0)
    expect({ ...head.headers, date: '' }, address).toEqual({ ...get.headers, date: '' })
  }
})

test('a packed vector tile is sent as stored, and plain with its own tag to a client that refuses gzip', async () => {
  const packed = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'accept-encoding': 'gzip' } })
  const plain = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'accept-encoding': 'gzip;q=0' } })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(packed.body.equals(gzipSync(VECTOR_TILE))).toBe(true)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.body.equals(VECTOR_TILE)).toBe(true)
  expect(plain.headers.etag).not.toBe(packed.headers.etag)
  for (const { headers } of [packed, plain]) {
    expect(headers.vary).toBe('Authorization, X-Access-Token, Accept-Encoding')
  }
  const again = await ask('/tiles/vector/0/0/0.pbf', { headers: { 'if-none-match': plain.headers.etag ?? '' } })
  expect([again.status, again.headers.vary, again.headers['content-length']]).toEqual([
    304,
    'Authorization, X-Access-Token, Accept-Encoding',
    undefined,
  ])
})

test('a tile with an unlimited unpacked size is refused', async () => {
  const bomb = await ask('/tiles/vector/1/0/0.pbf', { headers: { 'accept-encoding': 'identity' } })
  expect(bomb.status).toBe(500)
  expect(JSON.parse(bomb.body.toString())).toEqual({ error: expect.any(String) })
})

test('a range of a download has exactly these bytes, and a range of another state of the file returns the whole file', async () => {
  const part = await ask('/vectors/points/download', { headers: { range: 'bytes=100-199999' } })
  expect(part.status).toBe(206)
  expect(part.headers['content-range']).toBe(`bytes 100-199999/${GEOJSON.length}`)
  expect(part.body.equals(GEOJSON.subarray(100, 200_000))).toBe(true)
  const whole = await ask('/vectors/points/download', { headers: { range: 'bytes=0-9', 'if-range': '"older"' } })
  expect([whole.status, whole.body.length]).toEqual([200, GEOJSON.length])
  const head = await ask('/vectors/points/download', { method: 'HEAD', headers: { range: 'bytes=0-9' } })
  expect([head.status, head.headers['content-length']]).toEqual([200, String(GEOJSON.length)])
})

test('a file name beyond ASCII is sent in both forms', async () => {
  const zip = await ask('/vectors/roads/download', { method: 'HEAD' })
  expect(zip.headers['content-disposition']).toBe('attachment; filename="roads.zip"; filename*=UTF-8\'\'r%C3%B6ads.zip')
})

test('an extension in capitals is another one, and names no tile', async () => {
  expect((await ask('/tiles/raster/0/0/0.png')).status).toBe(200)
  for (const extension of ['PNG', 'Png', 'jpg']) {
    const { status, body } = await ask(`/tiles/raster/0/0/0.${extension}`)
    expect([extension, status, JSON.parse(body.toString())]).toEqual([extension, 404, { error: expect.any(String) }])
  }
})
