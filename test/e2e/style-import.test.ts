import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readGlyphRange } from '@gateway/styles/glyph-range.js'
import { ZipArchive } from 'archiver'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const FONT = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/noto-sans/700Bold_Italic/NotoSans_700Bold_Italic.ttf',
)
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="6"><rect width="10" height="6"/></svg>'

/** A style as Maputnik saves it: its own metadata first, and URLs as the style had them when it was opened. */
const inMaputnik = (style: object) =>
  JSON.stringify({ ...style, metadata: { 'maputnik:renderer': 'mlgljs' }, id: 'k3x9w2z' }, null, 2)

const CITY = {
  version: 8,
  name: 'City',
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/city',
  sources: {
    world: { type: 'raster', url: 'gateway://basemaps/world', tileSize: 256 },
    spots: { type: 'geojson', data: 'data/spots.geojson' },
  },
  layers: [
    { id: 'world', type: 'raster', source: 'world' },
    {
      id: 'spots',
      type: 'symbol',
      source: 'spots',
      layout: { 'text-field': ['get', 'name'], 'text-font': ['Brand Bold'], 'icon-image': 'stop' },
    },
  ],
}

type Files = Readonly<Record<string, string | Buffer>>

async function zip(files: Files): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipArchive({ zlib: { level: 6 } })
  for (const [name, data] of Object.entries(files)) archive.append(Buffer.from(data), { name })
  void archive.finalize()
  return new Uint8Array(await buffer(archive))
}

let token: string
const gateway = useGateway({}, async (started) => {
  const maps = join(started.home, 'maps/world/v1/0/0')
  await mkdir(maps, { recursive: true })
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#446' } })
    .png()
    .toBuffer()
  await writeFile(join(maps, '0.png'), tile)
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'maps'))
  token = (await started.issueToken({ basemap_codes: ['*'] })).token
})

// biome-ignore lint/suspicious/noExplicitAny: tests read documents without a schema
const json = async (answer: Response): Promise<any> => answer.json()

function send(body: string | Uint8Array<ArrayBuffer>, query = '', type = 'application/zip') {
  return fetch(`${gateway().url}/api/v1/admin/styles/import${query}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${gateway().adminToken}`, 'content-type': type },
  })
}

const get = (path: string) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': token } })

test('a zip with a style, drawings, a font and data is a complete map', async () => {
  const archive = await zip({
    'city/style.json': JSON.stringify(CITY),
    'city/icons/stop.svg': ICON,
    'city/fonts/Brand Bold/brand.ttf': await readFile(FONT),
    'city/data/spots.geojson': '{"type":"FeatureCollection","features":[]}',
    '__MACOSX/city/._style.json': 'left by a program',
  })
  const answer = await send(archive)
  const imported = await json(answer)
  expect([answer.status, imported.error]).toEqual([200, undefined])
  expect(imported).toMatchObject({ code: 'city', revision: 1, files: 4, source_code: 'imports-styles', problems: [] })
  const sprite = await json(await get('/styles/city/sprite@2x.json'))
  expect(sprite.stop).toMatchObject({ width: 20, height: 12, pixelRatio: 2 })
  const style = await json(await get('/styles/city/style.json'))
  expect((await get(new URL(style.sources.spots.data).pathname)).status).toBe(200)
  const range = await get('/fonts/Brand%20Bold/0-255.pbf')
  expect(readGlyphRange(new Uint8Array(await range.arrayBuffer()), 0).has(65)).toBe(true)
  // Another zip replaces all of it.
  const smaller = await send(await zip({ 'style.json': JSON.stringify(CITY) }), '?code=city')
  expect(await json(smaller)).toMatchObject({ revision: 2, files: 1 })
  expect((await get('/styles/city/sprite.json')).status).toBe(404)
})

test('a style edited in Maputnik gets its gateway addresses back, and loses the token', async () => {
  await send(await zip({ 'style.json': JSON.stringify(CITY), 'data/spots.geojson': '{}' }), '?code=edited')
  const opened = await json(await fetch(`${gateway().url}/styles/edited/style.json?token=${token}`))
  expect(JSON.stringify(opened)).toContain(token)
  opened.layers[0].paint = { 'raster-opacity': 0.5 }
  const answer = await send(inMaputnik(opened), '?code=edited', 'application/json')
  expect(await json(answer)).toMatchObject({ code: 'edited', revision: 2, files: 1 })
  const kept = await readFile(join(gateway().dataDir, 'imports/styles/edited/style.json'), 'utf8')
  expect(kept).not.toContain(token)
  expect(JSON.parse(kept)).toMatchObject({
    sources: CITY.sources,
    glyphs: CITY.glyphs,
    sprite: 'gateway://sprites/city',
  })
  const served = await json(await get('/styles/edited/style.json'))
  expect(served.layers[0].paint).toEqual({ 'raster-opacity': 0.5 })
  expect(served.metadata).toEqual({ 'maputnik:renderer': 'mlgljs' })
  const documents = await json(
    await fetch(`${gateway().url}/api/v1/admin/styles/edited/document?revision=1`, {
      headers: { authorization: `Bearer ${gateway().adminToken}` },
    }),
  )
  expect(documents.revisions.map(({ revision }: { revision: number }) => revision)).toEqual([2, 1])
  expect(documents.document.layers[0].paint).toBeUndefined()
})

test('a style may be larger than the limit of other JSON bodies', async () => {
  const layers = Array.from({ length: 9000 }, (_, i) => ({
    id: `layer ${i}`,
    type: 'background',
    metadata: { note: 'x'.repeat(100) },
    paint: { 'background-color': '#123456' },
  }))
  const text = JSON.stringify({ version: 8, sources: {}, layers })
  expect(text.length).toBeGreaterThan(1024 * 1024)
  expect((await send(text, '?code=large', 'application/json')).status).toBe(200)
})

test.each([
  ['no code', async () => send(JSON.stringify(CITY), '', 'application/json'), 400, /code/],
  ['a code that is no path', async () => send(JSON.stringify(CITY), '?code=..', 'application/json'), 400, /code/],
  [
    'a style that is not valid',
    async () => send(await zip({ 'style.json': '{\n"version": 8,\n"sources": {}\n}' }), '?code=bad'),
    400,
    /layers/,
  ],
  ['a zip without a style', async () => send(await zip({ 'readme.txt': 'x' }), '?code=bad'), 400, /style\.json/],
  ['no zip', async () => send('nothing', '?code=bad'), 400, /not a zip/],
  [
    'a name that climbs',
    async () => {
      const archive = Buffer.from(await zip({ 'style.json': JSON.stringify(CITY), 'icons/aaaaaa.svg': ICON }))
      const text = archive.toString('latin1').replaceAll('icons/aaaaaa.svg', '../../../aaa.svg')
      return send(new Uint8Array(Buffer.from(text, 'latin1')), '?code=bad')
    },
    400,
    /invalid relative path/,
  ],
  ['another type', async () => send('a,b', '?code=bad', 'text/csv'), 415, /application\/zip/],
])('%s is refused, and leaves nothing behind', async (_, request, status, words) => {
  const answer = await request()
  const { error } = await json(answer)
  expect(error).toMatch(words)
  expect(answer.status).toBe(status)
  expect((await get('/styles/bad/style.json')).status).toBe(404)
})

test('OGC API – Styles lists and serves the styles, to each token only those that it may read', async () => {
  const listed = await json(await get('/ogc/styles'))
  expect(listed.styles.map(({ id }: { id: string }) => id)).toEqual(['city', 'edited', 'large'])
  const [{ links }] = listed.styles
  const sheet = links.find(({ rel }: { rel: string }) => rel === 'stylesheet')
  const answer = await get(new URL(sheet.href).pathname)
  expect(answer.headers.get('content-type')).toBe(sheet.type)
  expect(await json(answer)).toEqual(await json(await get('/styles/city/style.json')))
  expect(await json(await get('/ogc/styles/city/metadata'))).toMatchObject({
    id: 'city',
    layers: [{ id: 'world' }, {}],
  })
  const { conformsTo, drafts } = await json(await get('/ogc/conformance'))
  expect(conformsTo).toContain('http://www.opengis.net/spec/ogcapi-styles-1/0.0/conf/core')
  expect(conformsTo).toEqual(expect.arrayContaining(drafts))
  const { token: other } = await gateway().issueToken({})
  const asOther = (path: string) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': other } })
  expect((await json(await asOther('/ogc/styles'))).styles.map(({ id }: { id: string }) => id)).toEqual(['large'])
  expect((await asOther('/ogc/styles/city')).status).toBe(403)
  expect((await asOther('/ogc/styles/gone')).status).toBe(404)
  const carried = await json(await fetch(`${gateway().url}/ogc/styles?token=${token}`))
  expect(carried.styles[0].links[0].href).toContain(`token=${token}`)
})

test('a code that a style of another scan source has is refused, as a zip and as a document, and that style stays', async () => {
  const folder = join(gateway().home, 'own-styles')
  const own = { version: 8, name: 'Own', sources: {}, layers: [] }
  await mkdir(folder)
  await writeFile(join(folder, 'owned.json'), JSON.stringify(own))
  await gateway().admin.scanSource('own', 'style', folder)
  const bodies = [
    await send(await zip({ 'style.json': JSON.stringify(CITY) }), '?code=owned'),
    await send(JSON.stringify(CITY), '?code=owned', 'application/json'),
  ]
  for (const answer of bodies) {
    expect(answer.status).toBe(409)
    expect((await json(answer)).error).toMatch(/in its scan source own; import it under another code/)
  }
  expect(await json(await get('/styles/owned/style.json'))).toEqual(own)
})

test('a style that must be new replaces none', async () => {
  const sent = () =>
    fetch(`${gateway().url}/api/v1/admin/styles/import?code=only-new`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway().adminToken}`,
        'content-type': 'application/json',
        'if-none-match': '*',
      },
      body: JSON.stringify({ version: 8, sources: {}, layers: [] }),
    })
  expect((await sent()).status).toBe(200)
  expect((await sent()).status).toBe(412)
})
