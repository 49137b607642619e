import { expect, test } from 'vitest'
import { startBareNginx } from '../harness/load-balancers.js'
import { fixtureTile, useMaps, useToken } from './maps.js'
import { rawGet } from './raw-request.js'

const maps = useMaps()
const token = useToken(maps)

const get = (path: string, init: RequestInit = {}) =>
  fetch(maps().gateway.url + path, { ...init, headers: { 'X-Access-Token': token(), ...(init.headers as object) } })

const EVERY_STORAGE = [
  ['an XYZ folder', '/tiles/world/2026-2/1/1/0.png', 'image/png'],
  ['a TMS folder', '/tiles/flipped/1/1/0.png', 'image/png'],
  ['MBTiles', '/tiles/archive/1/1/0.png', 'image/png'],
  ['PMTiles', '/tiles/cloud/1/1/0.png', 'image/png'],
] as const

test.each(EVERY_STORAGE)('a tile of %s is served with its headers', async (_, path, type) => {
  const answer = await get(path)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe(type)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(answer.headers.get('etag')).toMatch(/^(W\/)?"[^"]+"$/)
  expect(Date.parse(answer.headers.get('last-modified') as string)).not.toBeNaN()
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const body = Buffer.from(await answer.arrayBuffer())
  expect(Number(answer.headers.get('content-length'))).toBe(body.length)
  expect(body.equals(await fixtureTile(1, 1, 0))).toBe(true)
})

test.each(EVERY_STORAGE)('HEAD of a tile of %s returns the same headers and no body', async (_, path) => {
  const [head, whole] = [await get(path, { method: 'HEAD' }), await get(path)]
  expect(head.status).toBe(200)
  for (const name of ['content-type', 'content-length', 'etag', 'last-modified', 'cache-control']) {
    expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
  }
  expect((await head.arrayBuffer()).byteLength).toBe(0)
})

test.each(EVERY_STORAGE)('If-None-Match of a tile of %s returns 304 without a body', async (_, path) => {
  const etag = (await get(path)).headers.get('etag') as string
  for (const value of [etag, `"other", ${etag}`, `W/${etag.replace(/^W\//, '')}`, '*']) {
    const answer = await get(path, { headers: { 'If-None-Match': value } })
    expect([value, answer.status]).toEqual([value, 304])
    expect(answer.headers.get('etag')).toBe(etag)
    expect((await answer.arrayBuffer()).byteLength).toBe(0)
  }
  expect((await get(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
})

test('the short route and `current` serve the default version, the highest in natural order', async () => {
  const named = Buffer.from(await (await get('/tiles/world/2026-10/0/0/0.png')).arrayBuffer())
  for (const path of ['/tiles/world/0/0/0.png', '/tiles/world/current/0/0/0.png']) {
    expect(Buffer.from(await (await get(path)).arrayBuffer()).equals(named)).toBe(true)
  }
})

test.each([
  ['absent', '/tiles/world/2026-2/9/1/1.png'],
  ['out of range', '/tiles/world/2026-2/1/2/0.png'],
  ['far out of range', '/tiles/world/2026-2/99/0/0.png'],
  ['of another format', '/tiles/world/2026-2/0/0/0.jpg'],
])('a tile that is %s returns 404 with the error body and no-store', async (_, path) => {
  const answer = await get(path)
  expect(answer.status).toBe(404)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await answer.json()).toEqual({ error: expect.any(String) })
})

test('jpg and jpeg are one format', async () => {
  expect((await get('/tiles/photo/0/0/0.jpg')).status).toBe(200)
  expect((await get('/tiles/photo/0/0/0.jpeg')).status).toBe(200)
  expect((await get('/tiles/photo/0/0/0.jpg')).headers.get('content-type')).toBe('image/jpeg')
})

test('a compressed vector tile is sent as stored, and uncompressed to a client that does not accept gzip', async () => {
  const path = '/tiles/streets/0/0/0.pbf'
  const stored = await get(path, { headers: { 'Accept-Encoding': 'gzip' } })
  expect(stored.status).toBe(200)
  expect(stored.headers.get('content-encoding')).toBe('gzip')
  expect(stored.headers.get('vary')).toMatch(/accept-encoding/i)
  const plain = await get(path, { headers: { 'Accept-Encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(plain.headers.get('vary')).toMatch(/accept-encoding/i)
  // fetch decompresses, so both responses have the same plain bytes.
  expect(Buffer.from(await plain.arrayBuffer()).equals(Buffer.from(await stored.arrayBuffer()))).toBe(true)
  expect(plain.headers.get('etag')).not.toBe(stored.headers.get('etag'))
  expect((await get('/tiles/streets/0/0/0.mvt')).status).toBe(200)
})

test('a method that tile routes do not support returns 405 with Allow', async () => {
  const answer = await get('/tiles/world/2026-2/0/0/0.png', { method: 'DELETE' })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toMatch(/GET/)
  expect(await answer.json()).toEqual({ error: expect.any(String) })
})

test('preflight is open to any origin, with the token headers allowed', async () => {
  for (const path of [
    '/tiles/world/0/0/0.png',
    '/vectors/countries/download',
    '/api/v1/catalog/basemaps',
    '/tiles/world/tilejson.json',
  ]) {
    const answer = await fetch(maps().gateway.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://maps.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization,x-access-token',
      },
    })
    expect([path, answer.ok]).toEqual([path, true])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization')
    expect(answer.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('x-access-token')
  }
})

test('a page of another origin can read errors too', async () => {
  const answer = await fetch(`${maps().gateway.url}/tiles/world/0/0/0.png`, {
    headers: { Origin: 'https://maps.example' },
  })
  expect(answer.status).toBe(401)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})

test('TileJSON 3.0 describes a version, with URLs on the public base and the token in the form of the request', async () => {
  const base = maps().gateway.url
  const named = (await (await get('/tiles/world/2026-2/tilejson.json')).json()) as { tiles: [string] }
  expect(named.tiles[0].startsWith(`${base}/tiles/`)).toBe(true)
  expect(named).toMatchObject({
    tilejson: '3.0.0',
    tiles: [expect.stringMatching(/\/tiles\/world\/2026-2\/\{z\}\/\{x\}\/\{y\}\.png\?v=[1-9]\d*$/)],
    minzoom: 0,
    maxzoom: 2,
  })
  const answer = await fetch(`${base}/tiles/world/tilejson.json?access_token=${token()}`)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await answer.json()).toMatchObject({
    tiles: [
      expect.stringMatching(/\/tiles\/world\/2026-10\/\{z\}\/\{x\}\/\{y\}\.png\?v=[1-9]\d*&access_token=bmp_\w+$/),
    ],
  })
  expect(await (await get('/tiles/streets/tilejson.json')).json()).toMatchObject({ vector_layers: expect.any(Array) })
})

test('URLs never come from the Host header', async () => {
  const answer = await rawGet(maps().gateway.url, `/tiles/world/tilejson.json?token=${token()}`, {
    Host: 'evil.example',
  })
  expect(answer?.body).not.toContain('evil.example')
})

test('behind nginx that only has proxy_pass, everything is as without it', async () => {
  const nginx = await startBareNginx(maps().gateway.url)
  const mine = { 'X-Access-Token': token() }
  const compared = ['content-type', 'content-length', 'content-range', 'content-encoding', 'etag', 'cache-control']
  const requests: [path: string, init?: RequestInit][] = [
    ['/tiles/world/0/0/0.png'],
    ['/tiles/streets/0/0/0.pbf', { headers: { 'Accept-Encoding': 'gzip' } }],
    ['/tiles/streets/0/0/0.pbf', { headers: { 'Accept-Encoding': 'identity' } }],
    ['/tiles/world/9/9/9.png'],
    ['/tiles/world/0/0/0.png', { method: 'HEAD' }],
    ['/geojson/regions-countries.geojson'],
    ['/geojson/regions-countries.geojson', { headers: { Range: 'bytes=10-29' } }],
    ['/geojson/regions-countries.geojson', { headers: { Range: 'bytes=99999999-' } }],
    ['/vectors/regions-rivers/download'],
    ['/ogc/collections/regions-countries/items?limit=150&f=csv'],
    ['/console/'],
    ['/docs/'],
    ['/health'],
    ['/nowhere'],
  ]
  try {
    const answer = async (url: string, path: string, { headers, ...init }: RequestInit = {}) => {
      const response = await fetch(url + path, { ...init, headers: { ...mine, ...(headers as object) } })
      const fields = compared.map((name) => response.headers.get(name))
      return [path, response.status, fields, Buffer.from(await response.arrayBuffer()).toString('base64')]
    }
    for (const request of requests) {
      expect(await answer(nginx.url, ...request)).toEqual(await answer(maps().gateway.url, ...request))
    }
    // They have the name that nginx gives to the gateway.
    for (const path of ['/tiles/world/tilejson.json', '/wmts', '/ogc/collections', '/api/v1/system']) {
      const [before, behind] = [maps().gateway.url, nginx.url].map((url) => fetch(url + path, { headers: mine }))
      const [direct, proxied] = [await before!, await behind!]
      expect([path, proxied.status, (await proxied.text()).length > 100]).toEqual([path, direct.status, true])
    }
  } finally {
    await nginx.stop()
  }
})
