import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { PMTiles } from 'pmtiles'
import sharp from 'sharp'
import { beforeAll, describe, expect, test } from 'vitest'
import { tileImage } from '../harness/fixtures/tile-image.js'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useMaps, useToken } from './maps.js'

const maps = useMaps()
const token = useToken(maps)
const few = useToken(maps, { basemap_codes: ['world'], vector_codes: [] })
const execute = promisify(execFile)

/** The message of the scan that found the geographic sets. */
let scanned: string
beforeAll(async () => {
  const root = join(maps().gateway.home, 'grids')
  await makeGeographicFolder(join(root, 'flat'), 'EPSG:4326')
  await makeGeographicFolder(join(root, 'china'), 'EPSG:4490')
  await makeGeographicFolder(join(root, 'utm'), 'EPSG:32650')
  scanned = (await maps().gateway.admin.scanSource('grids', 'basemap', root)).message ?? ''
  // A vector becomes a layer as soon as its tiles are built, which may be between two requests of a test.
  const { items } = await maps().gateway.admin.expect<{ items: { code: string }[] }>('/vectors')
  for (const { code } of items) await tilesBuilt(maps().gateway, code)
})

/** Tiles of zoom 0 to 2, whose colour encodes their address. */
async function makeGeographicFolder(folder: string, crs: string): Promise<void> {
  for (let z = 0; z <= 2; z++) {
    for (let x = 0; x < 2 ** (z + 1); x++) {
      await mkdir(join(folder, String(z), String(x)), { recursive: true })
      for (let y = 0; y < 2 ** z; y++)
        await writeFile(join(folder, `${z}/${x}/${y}.png`), await tileImage('png', z, x, y))
    }
  }
  await writeFile(join(folder, 'tilejson.json'), JSON.stringify({ name: crs, crs, encoding: 'terrarium' }))
}

const open = (path: string, by = token()) => maps().get(path, { 'X-Access-Token': by })
const bytes = async (path: string) => Buffer.from(await (await open(path)).arrayBuffer())

test.each([
  ['/wmts', 'gzip'],
  ['/wmts/1.0.0/WMTSCapabilities.xml', 'gzip'],
  ['/ogc/tileMatrixSets/WebMercatorQuad', 'gzip'],
  ['/tiles/china/tilejson.json', null],
])('the document at %s is compressed for those who accept it where that pays', async (path, encoding) => {
  const ask = async (accepted: string) => {
    const answer = await maps().get(path, { 'X-Access-Token': token(), 'Accept-Encoding': accepted })
    expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Accept-Encoding'])
    return { encoding: answer.headers.get('content-encoding'), text: await answer.text() }
  }
  const plain = await ask('gzip;q=0')
  expect(plain.encoding).toBe(null)
  expect(await ask('br, gzip')).toEqual({ encoding, text: plain.text })
})

describe('tile matrix sets', () => {
  test('a geographic set is served up to its last column', async () => {
    expect(await bytes('/tiles/flat/current/2/7/3.png')).toEqual(await tileImage('png', 2, 7, 3))
    expect((await open('/tiles/flat/current/2/8/3.png')).status).toBe(404)
    expect((await open('/tiles/world/current/2/4/3.png')).status).toBe(404)
  })

  test('the version and TileJSON name the grid, and TileJSON has the additional metadata fields', async () => {
    const basemap = (await (await open('/api/v1/catalog/basemaps/china')).json()) as { versions: object[] }
    expect(basemap.versions).toMatchObject([
      { tile_matrix_set: 'CGCS2000Quad', crs: 'EPSG:4490', bounds: [-180, -90, 180, 90] },
    ])
    expect(await (await open('/tiles/china/tilejson.json')).json()).toMatchObject({
      crs: 'EPSG:4490',
      tile_matrix_set: 'CGCS2000Quad',
      encoding: 'terrarium',
    })
    expect(await (await open('/tiles/world/tilejson.json')).json()).not.toHaveProperty('crs')
  })

  test('the scan refuses a set in another grid with a reason', async () => {
    expect(scanned).toContain('EPSG:32650')
    expect((await open('/api/v1/catalog/basemaps/utm')).status).toBe(404)
  })
})

describe('WMTS', () => {
  test('capabilities contain only layers that the token may read, and the token only if it came in the URL', async () => {
    const all = await (await open('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities')).text()
    // With Chromium, vectors are drawn as well.
    const drawn = all.match(/ResourceURL [^>]*\/styles\//g) ?? []
    expect((all.match(/<Layer>/g) ?? []).length - drawn.length).toBe(8)
    expect(all).not.toContain('bmp_')
    const one = await maps().get(`/wmts/1.0.0/WMTSCapabilities.xml?token=${few()}`)
    expect([one.status, one.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8'])
    expect(one.headers.get('access-control-allow-origin')).toBe('*')
    const text = await one.text()
    expect(text.match(/<Layer>/g)?.length).toBe(1)
    const template = /template="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') as string
    const path = new URL(template.replace('{TileMatrix}', '2').replace('{TileCol}', '3').replace('{TileRow}', '1'))
    expect((await maps().get(path.pathname + path.search)).status).toBe(200)
  })

  test('capabilities of one layer have a grid with the depth of the layer', async () => {
    const text = await (await open('/wmts?only=photo')).text()
    expect(text.match(/<Layer>|<TileMatrix><ows:Identifier>/g)).toEqual(['<Layer>', '<TileMatrix><ows:Identifier>'])
    for (const code of ['nothing', 'flat']) expect((await open(`/wmts?only=${code}`, few())).status).toBe(400)
  })

  test('GetTile by key and value returns the bytes of the tile route', async () => {
    const query = 'service=WMTS&request=GetTile&version=1.0.0&layer=flat&style=default&tilematrixset=WorldCRS84Quad'
    const path = `/wmts?${query}&tilematrix=2&tilerow=3&tilecol=7&format=image/png`
    const answer = await open(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(await tileImage('png', 2, 7, 3))
    expect((await open(path, few())).status).toBe(403)
  })

  test.each([
    ['/wmts?service=WMTS&request=GetTile&layer=flat', 400, 'MissingParameterValue'],
    [
      '/wmts?service=WMTS&request=GetTile&layer=no&style=default&tilematrixset=a&tilematrix=0&tilerow=0&tilecol=0&format=a',
      400,
      'InvalidParameterValue',
    ],
    [
      '/wmts?service=WMTS&request=GetTile&layer=flat&style=default&tilematrixset=WorldCRS84Quad&tilematrix=2&tilerow=0&tilecol=8&format=image/png',
      400,
      'TileOutOfRange',
    ],
    [
      '/wmts?service=WMTS&request=GetTile&layer=flat&style=default&tilematrixset=WorldCRS84Quad&tilematrix=9&tilerow=0&tilecol=8&format=image/png',
      404,
      'NoApplicableCode',
    ],
    ['/wmts/1.0.0/nothing', 404, 'NoApplicableCode'],
  ])('%s is an OWS exception', async (path, status, code) => {
    const answer = await open(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/xml; charset=utf-8'])
    expect(await answer.text()).toContain(`exceptionCode="${code}"`)
  })

  test('a request without a token is refused in the form of the interface', async () => {
    const answer = await maps().get('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities')
    expect([answer.status, await answer.json()]).toEqual([401, { error: expect.any(String) }])
  })

  test.each([
    ['world', 'EPSG:3857', [3, 1, 9]],
    ['flat', 'EPSG:4326', [3, 1, 0]],
    ['china', 'EPSG:4490', [3, 1, 0]],
  ] as const)('GDAL reads %s (%s), each tile in its place', async (layer, _, [x, y, shade]) => {
    const { home, url } = maps().gateway
    const out = join(home, `wmts-${layer}.png`)
    const columns = layer === 'world' ? 1024 : 2048
    const source = `WMTS:${url}/wmts?token=${token()},layer=${layer}`
    await translate(['-outsize', String(columns), '1024', source, out])
    expect(await pixelOf(out, x, y)).toEqual([2 * 40 + shade, x * 16 + shade, y * 16 + shade])
  })
})

/** Converts a service to a PNG with gdal_translate. Its cache lies with the gateway, not in the working directory. */
function translate(args: readonly string[]) {
  const cache = join(maps().gateway.home, 'gdal')
  return execute('gdal_translate', ['--config', 'GDAL_DEFAULT_WMS_CACHE_PATH', cache, '-q', '-of', 'PNG', ...args])
}

/** The colour in the middle of a tile of zoom 2. */
async function pixelOf(file: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(await readFile(file))
    .raw()
    .toBuffer({ resolveWithObject: true })
  const at = ((y * 256 + 128) * info.width + x * 256 + 128) * info.channels
  return [...data.subarray(at, at + 3)]
}

describe('OGC API – Tiles', () => {
  test('leads from the landing page to a tile', async () => {
    const follow = async (path: string, rel: string) => {
      const { links } = (await (await open(path)).json()) as { links: { rel: string; href: string }[] }
      return new URL(links.find((link) => link.rel === rel)?.href as string).pathname
    }
    const collections = await follow('/ogc', 'data')
    const { collections: list } = (await (await open(collections)).json()) as { collections: { id: string }[] }
    expect(list.map(({ id }) => id)).toContain('flat')
    const tilesets = await follow(`${collections}/flat`, 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-map')
    expect(await (await open(tilesets)).json()).toMatchObject({ tilesets: [{ tileMatrixSetId: 'WorldCRS84Quad' }] })
    const item = decodeURIComponent(await follow(`${tilesets}/WorldCRS84Quad`, 'item'))
    const tile = item.replace('{tileMatrix}', '2').replace('{tileCol}', '7').replace('{tileRow}', '3')
    expect(await bytes(tile)).toEqual(await tileImage('png', 2, 7, 3))
    expect(await bytes(`${tilesets}/WorldCRS84Quad/2/3/7`)).toEqual(await tileImage('png', 2, 7, 3))
    expect(await (await open('/ogc/tileMatrixSets/CGCS2000Quad')).json()).toMatchObject({ id: 'CGCS2000Quad' })
    expect(await (await open('/ogc/conformance')).json()).toMatchObject({ conformsTo: expect.any(Array) })
  })

  test('names the OpenAPI document with the media type of its version, and sends it with that type', async () => {
    const { links } = (await (await open('/ogc')).json()) as { links: { rel: string; href: string; type: string }[] }
    const { href = '', type } = links.find(({ rel }) => rel === 'service-desc') ?? {}
    const answer = await fetch(href)
    const { openapi } = (await answer.json()) as { openapi: string }
    const [, version] = /^(\d+\.\d+)\./.exec(openapi) ?? []
    expect(type).toBe(`application/vnd.oai.openapi+json;version=${version}`)
    expect(answer.headers.get('content-type')?.replaceAll(/[" ]/g, '')).toBe(`${type};charset=utf-8`)
  })

  test.each([
    '/ogc/nothing',
    '/ogc/%ff',
    '/ogc/collections/nothing',
    '/ogc/collections/%ff',
    '/ogc/collections/flat/tiles',
    '/ogc/tileMatrixSets/nothing',
    '/arcgis/rest/services/%ff',
  ])('%s returns 404', async (path) => {
    expect((await open(path)).status).toBe(404)
  })

  test('GDAL reads a collection', async () => {
    const { home, url } = maps().gateway
    const out = join(home, 'ogcapi.png')
    const source = `OGCAPI:${url}/ogc/collections/flat?token=${token()}`
    await translate(['-outsize', '2048', '1024', '-oo', 'API=TILES', source, out])
    expect(await pixelOf(out, 5, 2)).toEqual([80, 80, 32])
  })
})

describe('TMS', () => {
  test('counts rows from the south', async () => {
    expect(await bytes('/tms/1.0.0/world/2/3/0.png')).toEqual(await bytes('/tiles/world/current/2/3/3.png'))
    expect(await bytes('/tms/1.0.0/world?tile=/2/3/0.png')).toEqual(await bytes('/tiles/world/current/2/3/3.png'))
    expect(await (await open('/tms/1.0.0')).text()).toContain('profile="global-geodetic"')
    expect(await (await open('/tms/1.0.0/flat/tilemapresource.xml')).text()).toContain('<SRS>EPSG:4326</SRS>')
    expect((await open('/tms/1.0.0/world/2/3/4.png')).status).toBe(404)
    expect((await open('/tms/1.0.0/nothing')).status).toBe(404)
    for (const path of ['/tms/1.0.0/flat', '/tms/1.0.0/flat?tile=/2/3/0.png', '/tms/1.0.0/fl?tile=at/2/3/0.png'])
      expect((await open(path, few())).status).toBe(403)
  })

  test('GDAL reads a tile map whose token is in the URL', async () => {
    const out = join(maps().gateway.home, 'tms.png')
    await translate([`${maps().gateway.url}/tms/1.0.0/world?token=${token()}`, out])
    expect(await pixelOf(out, 3, 1)).toEqual([2 * 40 + 9, 3 * 16 + 9, 16 + 9])
  })
})

describe('archives', () => {
  test('the pmtiles library reads an archive by ranges', async () => {
    const url = `${maps().gateway.url}/archives/cloud/current.pmtiles?token=${token()}`
    const tile = await new PMTiles(url).getZxy(2, 3, 1)
    expect(Buffer.from(tile?.data as ArrayBuffer)).toEqual(await bytes('/tiles/cloud/current/2/3/1.png'))
  })

  test('an archive is sent whole and unchanged', async () => {
    expect(await bytes('/archives/archive/current.mbtiles')).toEqual(
      await readFile(join(maps().basemapRoot, 'archive.mbtiles')),
    )
  })

  test.each([
    '/archives/cloud/current.mbtiles',
    '/archives/world/current.pmtiles',
    '/archives/cloud',
    '/archives/no/current.pmtiles',
  ])('%s returns 404', async (path) => {
    expect((await open(path)).status).toBe(404)
  })

  test('an archive needs the grant of its basemap', async () => {
    expect((await open('/archives/cloud/current.pmtiles', few())).status).toBe(403)
  })
})

describe('conveniences for clients', () => {
  test('a token is accepted as the password of Basic credentials, and only a wrong one there gets a Basic challenge', async () => {
    const basic = (password: string) => ({
      Authorization: `Basic ${Buffer.from(`qgis:${password}`).toString('base64')}`,
    })
    expect((await maps().get('/tiles/world/current/0/0/0.png', basic(token()))).status).toBe(200)
    expect((await maps().get('/api/v1/catalog/basemaps', basic(token()))).status).toBe(200)
    for (const path of ['/tiles/world/current/0/0/0.png', '/api/v1/catalog/basemaps', '/wmts']) {
      const wrong = await maps().get(path, basic('nobody'))
      expect([path, wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        expect.stringContaining('Basic '),
      ])
      expect((await maps().get(path)).headers.get('www-authenticate')).not.toContain('Basic')
    }
  })

  test('a missing tile returns 204 on request, and an image for an element of a page', async () => {
    const missing = '/tiles/world/current/9/0/0.png'
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${maps().gateway.url}${missing}?missing=204`, {
        method,
        headers: { 'X-Access-Token': token() },
      })
      expect([answer.status, answer.headers.get('content-length')]).toEqual([204, null])
    }
    // fetch sets this header itself.
    const headers = { 'X-Access-Token': token(), 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Mode': 'no-cors' }
    const [image] = (await once(request(maps().gateway.url + missing, { headers }).end(), 'response')) as [
      IncomingMessage,
    ]
    expect([image.statusCode, image.headers['content-type']]).toEqual([404, 'image/png'])
    expect(await sharp(await buffer(image)).metadata()).toMatchObject({ width: 1, height: 1 })
    expect((await open(missing)).headers.get('content-type')).toContain('application/json')
  })

  test("a folder's tile of twice the pixels is served under its own name", async () => {
    const tile = await tileImage('png', 1, 1, 1)
    await writeFile(join(maps().gateway.home, 'grids/flat/1/2/1@2x.png'), tile)
    expect(await bytes('/tiles/flat/current/1/2/1@2x.png')).toEqual(tile)
    expect((await open('/tiles/flat/current/1/3/1@2x.png')).status).toBe(404)
    expect((await open('/tiles/archive/current/0/0/0@2x.png')).status).toBe(404)
    expect((await open('/tiles/flat/current/1/2/1@3x.png')).status).toBe(400)
  })

  test('vectors are downloaded by the names that desktop software expects', async () => {
    expect(await bytes('/vectors/regions-countries.geojson')).toEqual(
      await bytes('/vectors/regions-countries/download'),
    )
    expect((await open('/vectors/regions-countries.kml')).status).toBe(404)
    expect((await open('/vectors/regions-rivers.zip')).headers.get('content-type')).toBe('application/zip')
  })

  test('a page may read the timing of a response', async () => {
    expect((await open('/tiles/world/current/0/0/0.png')).headers.get('timing-allow-origin')).toBe('*')
  })
})
