import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readGlyphRange } from '@gateway/styles/glyph-range.js'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { type ClientPage, MAPLIBRE, useClientPages } from '../clients/pages.js'
import { useGateway } from '../harness/use-gateway.js'

const PLACES = {
  type: 'FeatureCollection',
  features: [
    { type: 'Feature', properties: { name: '南京市' }, geometry: { type: 'Point', coordinates: [0, 0] } },
    {
      type: 'Feature',
      properties: { name: 'Ring' },
      geometry: {
        type: 'LineString',
        coordinates: [
          [-20, -20],
          [20, -20],
          [20, 20],
          [-20, 20],
          [-20, -20],
        ],
      },
    },
  ],
}

const CITY = {
  version: 8,
  name: 'City',
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/city',
  sources: {
    places: { type: 'geojson', data: 'gateway://vectors/places' },
    world: { type: 'raster', url: 'gateway://basemaps/world', tileSize: 256 },
    elsewhere: { type: 'vector', url: 'https://tiles.example.org/a.json' },
  },
  layers: [
    { id: 'world', type: 'raster', source: 'world' },
    {
      id: 'names',
      type: 'symbol',
      source: 'places',
      layout: { 'text-field': ['get', 'name'], 'text-font': ['Unknown Font'] },
    },
  ],
}

/** A style for the browser tests: no other host, and white labels. */
const LABELS = {
  ...CITY,
  sprite: undefined,
  sources: { places: CITY.sources.places, world: CITY.sources.world },
  layers: CITY.layers.map((layer) =>
    layer.type === 'symbol'
      ? { ...layer, layout: { ...layer.layout, 'text-size': 40 }, paint: { 'text-color': '#fff' } }
      : layer,
  ),
}

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="12"><rect width="16" height="12" fill="#c00"/></svg>'

let all: string
let half: string
let none: string
const gateway = useGateway({}, async (started) => {
  const at = (name: string) => join(started.home, name)
  const write = async (name: string, content: string | Uint8Array) => {
    await mkdir(join(at(name), '..'), { recursive: true })
    await writeFile(at(name), content)
  }
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#446' } })
    .png()
    .toBuffer()
  await write('maps/world/v1/0/0/0.png', tile)
  await write('vectors/places.geojson', JSON.stringify(PLACES))
  await write('styles/city/style.json', JSON.stringify(CITY, null, 1))
  await write('styles/city/icons/school.svg', SVG)
  await write('styles/labels/style.json', JSON.stringify(LABELS))
  await write('styles/plain.json', JSON.stringify({ version: 8, sources: {}, layers: [] }))
  await write(
    'styles/broken/style.json',
    '{\n"version": 8,\n"sources": {},\n"layers": [{"id": "a", "type": "fill", "source": "gone"}]\n}',
  )
  await started.admin.scanSource('maps', 'basemap', at('maps'))
  await started.admin.scanSource('vectors', 'vector', at('vectors'))
  await started.admin.scanSource('styles', 'style', at('styles'))
  all = (await started.issueToken({ basemap_codes: ['world'], vector_codes: ['places'] })).token
  half = (await started.issueToken({ basemap_codes: ['world'] })).token
  none = (await started.issueToken({})).token
})

// biome-ignore lint/suspicious/noExplicitAny: tests read documents without a schema
const json = async (answer: Response): Promise<any> => answer.json()

const get = (path: string, token?: string, more: RequestInit = {}) =>
  fetch(`${gateway().url}${path}`, { ...more, headers: { ...(token && { 'x-access-token': token }), ...more.headers } })

test('a style has absolute URLs, which carry only the token that came in the query', async () => {
  const base = gateway().url
  const byHeader = await json(await get('/styles/city/style.json', all))
  expect(byHeader.sources).toEqual({
    places: { type: 'geojson', data: `${base}/vectors/places.geojson` },
    world: { type: 'raster', url: `${base}/tiles/world/tilejson.json`, tileSize: 256 },
    elsewhere: CITY.sources.elsewhere,
  })
  expect(byHeader.sprite).toBe(`${base}/styles/city/sprite`)
  const answer = await get(`/styles/city/style.json?token=${all}`)
  expect(answer.headers.get('etag')).not.toBeNull()
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const byQuery = await json(answer)
  expect(byQuery.sprite).toBe(`${base}/styles/city/sprite?token=${all}`)
  expect(byQuery.glyphs).toMatch(new RegExp(`^${base}/fonts/{fontstack}/{range}.pbf\\?v=[\\w-]+&token=${all}$`))
  for (const address of [byQuery.sources.places.data, byQuery.sources.world.url]) {
    expect(address).toContain(`token=${all}`)
    expect((await fetch(address)).status).toBe(200)
  }
  const again = await get('/styles/city/style.json', all, {
    headers: { 'if-none-match': String((await get('/styles/city/style.json', all)).headers.get('etag')) },
  })
  expect(again.status).toBe(304)
  expect((await get('/styles/city/style.json', all, { method: 'HEAD' })).status).toBe(200)
})

test('refusals come in their order, and name the source that is not granted', async () => {
  expect((await get('/styles/city/style.json')).status).toBe(401)
  const refused = await get('/styles/city/style.json', half)
  expect(refused.status).toBe(403)
  expect((await json(refused)).error).toContain('places')
  expect((await get('/styles/city/sprite.json', half)).status).toBe(403)
  expect((await get('/styles/plain/style.json', none)).status).toBe(200)
  expect((await get('/styles/gone/style.json', none)).status).toBe(404)
  expect((await get('/styles/broken/style.json', all)).status).toBe(404)
  expect((await get('/fonts/Noto%20Sans%20Regular/0-255.pbf')).status).toBe(401)
  expect((await get('/fonts/Noto%20Sans%20Regular/0-100.pbf', none)).status).toBe(400)
  const list = async (token: string) => json(await get('/api/v1/catalog/styles', token))
  expect((await list(all)).items.map(({ code }: { code: string }) => code)).toEqual(['city', 'labels', 'plain'])
  expect((await list(half)).items.map(({ code }: { code: string }) => code)).toEqual(['plain'])
  expect((await get('/api/v1/catalog/styles/city', all)).status).toBe(200)
  expect((await get('/api/v1/catalog/styles/city', half)).status).toBe(403)
  expect((await get('/api/v1/catalog/styles?unknown=1', all)).status).toBe(400)
})

test('a folder of drawings is a sprite at both densities', async () => {
  const index = await json(await get('/styles/city/sprite.json', all))
  expect(index).toEqual({ school: { x: 0, y: 0, width: 16, height: 12, pixelRatio: 1 } })
  const doubled = await json(await get('/styles/city/sprite@2x.json', all))
  expect(doubled.school).toMatchObject({ width: 32, height: 24, pixelRatio: 2 })
  const image = await sharp(Buffer.from(await (await get('/styles/city/sprite@2x.png', all)).arrayBuffer())).metadata()
  expect([image.width, image.height]).toEqual([32, 24])
})

test('an unknown font falls back to the fonts of the gateway', async () => {
  const answer = await get('/fonts/Unknown%20Font,Noto%20Sans%20Bold/0-255.pbf', none)
  expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
  const glyphs = readGlyphRange(new Uint8Array(await answer.arrayBuffer()), 0)
  expect(glyphs.get(65)).toMatchObject({ id: 65, height: 18 })
})

test('the default styles draw a basemap and a vector, light and dark', async () => {
  expect(await json(await get('/tiles/world/style.json', all))).toMatchObject({
    sources: { tiles: { type: 'raster', url: `${gateway().url}/tiles/world/tilejson.json` } },
  })
  const [light, dark] = await Promise.all(
    ['', '?theme=dark'].map(async (q) => json(await get(`/vectors/places/style.json${q}`, all))),
  )
  expect(light.sources.data.url).toBe(`${gateway().url}/vectors/places/tilejson.json`)
  expect(light.layers[0]).not.toEqual(dark.layers[0])
  expect((await get('/vectors/places/style.json?theme=blue', all)).status).toBe(400)
  expect((await get('/vectors/places/style.json', half)).status).toBe(403)
})

test('scans report the invalid line, and the list reports missing parts', async () => {
  const admin = async (path: string, init: RequestInit = {}) =>
    fetch(`${gateway().url}/api/v1/admin${path}`, {
      ...init,
      headers: { authorization: `Bearer ${gateway().adminToken}`, 'content-type': 'application/json' },
    })
  const sources = await json(await admin('/scan-sources/styles'))
  expect(sources.last_scan).toMatchObject({ status: 'succeeded', added: 3 })
  expect(sources.last_scan.message).toMatch(/broken\/style.json", line 4: .*gone/)
  const style = await json(await admin('/styles/city'))
  expect(style).toMatchObject({ code: 'city', revision: 1, withdrawn: false, fonts: ['Unknown Font'] })
  expect(style.problems.map(({ message_code: code }: { message_code: string }) => code)).toEqual(['style_font_missing'])
  const withdrawn = await admin('/styles/city', { method: 'PATCH', body: JSON.stringify({ withdrawn: true }) })
  expect(await json(withdrawn)).toMatchObject({ withdrawn: true, pending: [] })
  for (const path of ['/styles/city/style.json', '/styles/city/sprite.png', '/api/v1/catalog/styles/city'])
    expect((await get(path, all)).status).toBe(404)
  await admin('/styles/city', { method: 'PATCH', body: JSON.stringify({ withdrawn: false }) })
  expect((await get('/styles/city/style.json', all)).status).toBe(200)
})

test('a signature opens a style with all its resources, and nothing else', async () => {
  const signed = await fetch(`${gateway().url}/api/v1/admin/signed-urls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway().adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ style_code: 'city', expires_at: new Date(Date.now() + 3_600_000).toISOString() }),
  })
  expect(signed.status).toBe(200)
  const { style_url: address } = await json(signed)
  const style = await json(await fetch(address))
  const glyphs = style.glyphs.replace('{fontstack}', 'Noto Sans Regular').replace('{range}', '0-255')
  const sprite = style.sprite.replace('?', '.json?')
  for (const part of [glyphs, sprite, style.sources.places.data, style.sources.world.url])
    expect([part, (await fetch(part)).status]).toEqual([part, 200])
  const { tiles } = await json(await fetch(style.sources.world.url))
  expect((await fetch(tiles[0].replace('{z}/{x}/{y}', '0/0/0'))).status).toBe(200)
  const { search } = new URL(address)
  expect((await get(`/styles/plain/style.json${search}`)).status).toBe(401)
  expect((await get(`/styles/city/style.json${search.replace('city', 'plain')}`)).status).toBe(401)
})

const openClient = useClientPages({ maplibre: MAPLIBRE })

test('a map with Chinese labels draws with one token, and is blank once the token is disabled', async () => {
  const { token, id } = await gateway().issueToken({ basemap_codes: ['world'], vector_codes: ['places'] })
  const client = await openClient('maplibre')
  const address = `${gateway().url}/styles/labels/style.json?token=${token}`
  const hosts = new Set<string>()
  client.page.on('request', (request) => hosts.add(new URL(request.url()).host))
  const drawn = await drawMap(client.page, address)
  await writeFile(join(await artifacts(), 'styles-labels.png'), drawn)
  expect([...hosts].filter((host) => !/^(localhost|127\.0\.0\.1):|^$/.test(host))).toEqual([])
  expect(await whitePixels(drawn)).toBeGreaterThan(200)
  await gateway().admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
  const blank = await drawMap(client.page, address)
  await writeFile(join(await artifacts(), 'styles-labels-disabled.png'), blank)
  expect((await sharp(blank).stats()).channels.every(({ min }) => min === 255)).toBe(true)
})

/** Draws a map with the gateway's glyphs only, including ideographs. */
async function drawMap(page: ClientPage['page'], style: string): Promise<Buffer> {
  await page.evaluate(`(async () => {
    window.drawn?.remove()
    const maplibregl = await import('./maplibre-gl.mjs')
    window.drawn = new maplibregl.Map({ container: 'map', center: [0, 0], zoom: 1, fadeDuration: 0, attributionControl: false,
      localIdeographFontFamily: false, style: ${JSON.stringify(style)} })
    await new Promise((resolve) => { drawn.once('idle', resolve); drawn.on('error', ({ error }) => error.status === 401 && resolve()) })
  })()`)
  return page.screenshot()
}

async function artifacts(): Promise<string> {
  const folder = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
  await mkdir(folder, { recursive: true })
  return folder
}

/** Counts the white pixels of labels on a dark map. */
async function whitePixels(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  let found = 0
  for (let i = 0; i < data.length; i += info.channels)
    if (Math.min(data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0) > 200) found++
  return found
}
