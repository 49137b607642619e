import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type { AccessToken } from '@gateway/core/access/decide.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { fingerprintOf, partsIn } from '@gateway/vectors/source-parts.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const HALF = 20037508.342789244
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-wms-'))

/** A tile whose pixels tell their place: the red by column, the green by row, the blue by tile. */
function pixelsOf(x: number, y: number): Buffer {
  const pixels = Buffer.alloc(256 * 256 * 3)
  for (let i = 0; i < 256 * 256; i++) pixels.set([i % 256, Math.floor(i / 256), x * 60 + y * 20], i * 3)
  return pixels
}

async function writeTiles(code: string, columns: number, rows: number, z: number): Promise<void> {
  for (let x = 0; x < columns; x++) {
    fs.mkdirSync(path.join(home, `${code}/${z}/${x}`), { recursive: true })
    for (let y = 0; y < rows; y++)
      await sharp(pixelsOf(x, y), { raw: { width: 256, height: 256, channels: 3 } })
        .png()
        .toFile(path.join(home, `${code}/${z}/${x}/${y}.png`))
  }
}

const POINTS = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      id: 7,
      properties: { name: 'A', height: 5 },
      geometry: { type: 'Point', coordinates: [10, 20] },
    },
    { type: 'Feature', id: 8, properties: { name: 'B' }, geometry: { type: 'Point', coordinates: [10.01, 20] } },
    { type: 'Feature', id: 9, properties: { name: 'C' }, geometry: { type: 'Point', coordinates: [90, -20] } },
  ],
}

let running: RunningEdge
beforeAll(async () => {
  await writeTiles('world', 2, 2, 1)
  await writeTiles('flat', 4, 2, 1)
  fs.mkdirSync(path.join(home, 'broken/0/0'), { recursive: true })
  fs.writeFileSync(path.join(home, 'broken/0/0/0.png'), 'no picture')
  fs.writeFileSync(path.join(home, 'points.geojson'), JSON.stringify(POINTS))
  const version = (code: string, more = {}) =>
    storedVersion('v1', { path: path.join(home, code), minZoom: 1, maxZoom: 1, bounds: null, ...more })
  const source = { sourcePath: home }
  const rows = [
    storedBasemap('world', [version('world')], { ...source, name: 'World & <sea>' }),
    storedBasemap('flat', [version('flat', { tileMatrixSet: 'WorldCRS84Quad', crs: 'EPSG:4326' })], source),
    storedBasemap('deep', [version('world', { minZoom: 12, maxZoom: 14 })], source),
    storedBasemap('broken', [version('broken', { minZoom: 0, maxZoom: 0 })], source),
    storedBasemap('vector', [version('vector', { format: 'pbf', extension: 'pbf' })], source),
  ]
  const fingerprint = fingerprintOf(partsIn(home, ['points.geojson']))
  const file = { ...source, path: path.join(home, 'points.geojson'), fingerprint }
  const vectors = [storedVector('points', file), storedVector('world', file)]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: vectors })
  const maps = { underWay: 2, waiting: 0, waitMs: 50 }
  const dataDir = path.join(home, 'data')
  running = await runEdge({ port: await freePort(), catalog, dataDir, controlPlane: 'http://127.0.0.1:1', maps })
})
afterAll(async () => {
  running.edge.maps.close()
  running.edge.features.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function issue(more: Partial<AccessToken> = {}): string {
  const token = createToken()
  running.storedTokens.set(tokenDigest(token).toString('hex'), { ...READER, id: token, ...more })
  return token
}

type Parameters = Readonly<Record<string, string | number>>

function ask(parameters: Parameters, headers: http.OutgoingHttpHeaders = { 'x-access-token': running.token }) {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    http
      .get(`${running.url}/wms?${query.join('&')}`, { agent: false, headers }, async (answer) => {
        const parts: Buffer[] = []
        for await (const part of answer) parts.push(part as Buffer)
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) })
      })
      .once('error', reject)
  })
}

const MAP = {
  SERVICE: 'WMS',
  VERSION: '1.3.0',
  REQUEST: 'GetMap',
  LAYERS: 'world',
  STYLES: '',
  CRS: 'EPSG:3857',
  BBOX: [-HALF, -HALF, HALF, HALF].join(),
  WIDTH: 512,
  HEIGHT: 512,
  FORMAT: 'image/png',
}
const WORLD_DEGREES = { BBOX: '-180,-90,180,90', WIDTH: 1024, HEIGHT: 512, LAYERS: 'flat' }

async function draw(more: Parameters, headers?: http.OutgoingHttpHeaders) {
  const answer = await ask({ ...MAP, ...more }, headers)
  expect([answer.status, String(answer.body.subarray(0, 5)).startsWith('<')]).toEqual([200, false])
  const { data, info } = await sharp(answer.body).raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels),
  ]
  return { answer, data, info, at }
}

describe('GetMap', () => {
  test('on the grid of the tiles, the pixels of PNG tiles are unchanged', async () => {
    const { answer, data, info } = await draw({})
    expect([answer.headers['content-type'], info.width, info.height, info.channels]).toEqual(['image/png', 512, 512, 3])
    for (let row = 0; row < 512; row++) {
      const [left, right] = [pixelsOf(0, Math.floor(row / 256)), pixelsOf(1, Math.floor(row / 256))]
      const from = (row % 256) * 768
      const expected = Buffer.concat([left.subarray(from, from + 768), right.subarray(from, from + 768)])
      expect(data.subarray(row * 1536, row * 1536 + 1536).equals(expected)).toBe(true)
    }
  })

  test('the latitude comes first in the geographic systems of EPSG in 1.3.0 only', async () => {
    const expected = (await draw({ ...WORLD_DEGREES, CRS: 'CRS:84' })).data
    const requests: Parameters[] = [
      { CRS: 'EPSG:4326', BBOX: '-90,-180,90,180' },
      { CRS: 'EPSG:4490', BBOX: '-90,-180,90,180' },
      { VERSION: '1.1.1', SRS: 'EPSG:4326' },
      { VERSION: '1.1.1', SRS: 'EPSG:4490' },
    ]
    for (const more of requests) {
      const { CRS: _, ...rest } = { ...MAP, ...WORLD_DEGREES, ...more }
      const { body } = await ask('SRS' in more ? rest : { ...rest, CRS: (more as { CRS: string }).CRS })
      expect((await sharp(body).raw().toBuffer()).equals(expected)).toBe(true)
    }
    expect(expected.subarray(0, 3)).toEqual(Buffer.from([0, 0, 0]))
  })

  test('names of parameters are in any case, and 1.1.1 names its system SRS', async () => {
    const lower = Object.fromEntries(Object.entries(MAP).map(([name, value]) => [name.toLowerCase(), value]))
    const { crs, ...rest } = lower as Record<string, string | number>
    const old = await ask({ ...rest, version: '1.1.1', srs: crs as string })
    expect(old.body.equals((await ask(lower)).body)).toBe(true)
  })

  test('outside of the tiles the picture is transparent, or has the background', async () => {
    const far = { BBOX: [-2 * HALF, -2 * HALF, 2 * HALF, 2 * HALF].join() }
    expect((await draw({ ...far, TRANSPARENT: 'TRUE' })).at(5, 5)).toEqual([0, 0, 0, 0])
    expect((await draw({ ...far, BGCOLOR: '0x102030' })).at(5, 5)).toEqual([0x10, 0x20, 0x30])
    expect((await draw(far)).at(5, 5)).toEqual([255, 255, 255])
    const jpeg = await draw({ ...far, FORMAT: 'image/jpeg', TRANSPARENT: 'TRUE' })
    expect([jpeg.answer.headers['content-type'], jpeg.at(5, 5)]).toEqual(['image/jpeg', [255, 255, 255]])
    const webp = await draw({ ...far, FORMAT: 'image/webp', TRANSPARENT: 'TRUE' })
    expect([webp.answer.headers['content-type'], webp.at(5, 5)[3]]).toEqual(['image/webp', 0])
  })

  test('a layer of another grid is drawn at its place', async () => {
    const { at } = await draw({ LAYERS: 'flat,world', WIDTH: 256, HEIGHT: 256, BBOX: [0, 0, HALF, HALF].join() })
    expect(at(0, 255).slice(0, 2)).toEqual([0, 255])
    // 90 degrees east at the equator begins the last column of the geographic set.
    const { at: degrees } = await draw({ LAYERS: 'flat', WIDTH: 512, HEIGHT: 512 })
    expect(degrees(383, 256)[2]).toBe(2 * 60 + 20)
    expect(degrees(385, 256)[2]).toBe(3 * 60 + 20)
  })

  test('the area of a token cuts the picture', async () => {
    const limits = { origins: [], networks: [], rate: null, area: [0, 0, 90, 85] }
    const token = issue({ limits: limits as never })
    const { at } = await draw({ TRANSPARENT: 'TRUE' }, { 'x-access-token': token })
    expect([at(255, 250)[3], at(256, 250)[3], at(383, 250)[3], at(384, 250)[3], at(300, 256)[3]]).toEqual([
      0, 255, 255, 0, 0,
    ])
  })

  test('a picture across 180 degrees shows the other side of the world, as far as the area of a token', async () => {
    const whole = await draw({})
    const turned = await draw({ BBOX: [0, -HALF, 2 * HALF, HALF].join() })
    for (const [x, y] of [
      [10, 100],
      [255, 300],
      [256, 300],
      [500, 400],
    ] as const)
      expect(turned.at(x, y)).toEqual(whole.at((x + 256) % 512, y))
    const limits = { origins: [], networks: [], rate: null, area: [-90, 0, 0, 85] }
    const token = issue({ limits: limits as never })
    const cut = await draw(
      { BBOX: [0, -HALF, 2 * HALF, HALF].join(), TRANSPARENT: 'TRUE' },
      { 'x-access-token': token },
    )
    expect([100, 383, 384, 511].map((x) => cut.at(x, 250)[3])).toEqual([0, 0, 255, 255])
  })

  test('a layer that a token may not read refuses the picture, also among others', async () => {
    const token = issue({ basemaps: new Set(['flat']), vectors: new Set() })
    expect((await ask({ ...MAP, LAYERS: 'flat' }, { 'x-access-token': token })).status).toBe(200)
    for (const LAYERS of ['world', 'flat,world', 'nothing']) {
      const refused = await ask({ ...MAP, LAYERS }, { 'x-access-token': token })
      expect([refused.status, JSON.parse(String(refused.body))]).toMatchObject([403, { error: expect.any(String) }])
    }
    expect((await ask(MAP, {})).status).toBe(401)
  })

  test('a copy of the picture is current until the content changes', async () => {
    const { headers } = await ask(MAP)
    const again = (etag: string) => ask(MAP, { 'x-access-token': running.token, 'if-none-match': etag })
    expect((await again(headers.etag as string)).status).toBe(304)
    expect((await again('"other"')).status).toBe(200)
    expect((await ask({ ...MAP, WIDTH: 511 })).headers.etag).not.toBe(headers.etag)
    expect(headers['cache-control']).toBe('private, no-cache')
  })

  test('a tile that cannot be decoded is left out', async () => {
    expect((await draw({ LAYERS: 'broken', TRANSPARENT: 'TRUE' })).at(9, 9)).toEqual([0, 0, 0, 0])
  })

  test('a picture that finds no turn in time is refused for a moment', async () => {
    const release = await running.edge.maps.enter('reader')
    try {
      const refused = await ask(MAP)
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
      // Another token has its own turn.
      expect((await ask(MAP, { 'x-access-token': issue() })).status).toBe(200)
    } finally {
      release?.()
    }
    expect((await ask(MAP)).status).toBe(200)
  })

  test('a picture counts as a tile of its lowest layer', async () => {
    running.edge.usage.take(running.edge.native.takeUsage(), 0)
    await ask({ ...MAP, LAYERS: 'flat,world' })
    const rows = JSON.stringify(running.edge.usage.take(running.edge.native.takeUsage(), 0))
    expect(rows).toContain('version:flat/v1')
    expect(rows).not.toContain('world')
  })
})

const INFO = { ...MAP, REQUEST: 'GetFeatureInfo', LAYERS: 'points', QUERY_LAYERS: 'points', FORMAT: 'image/png' }
/** The pixel at 10 degrees east and 20 north. */
const AT = { CRS: 'CRS:84', BBOX: '0,10,20,30', WIDTH: 200, HEIGHT: 200, I: 100, J: 100 }

describe('GetFeatureInfo', () => {
  const info = async (more: Parameters) => ask({ ...INFO, ...AT, INFO_FORMAT: 'application/json', ...more })
  const names = async (more: Parameters) => {
    const { body } = await info(more)
    const { features } = JSON.parse(String(body)) as { features: { properties: { name: string } }[] }
    return features.map(({ properties }) => properties.name)
  }

  test('returns GeoJSON of the features within five pixels, as many as are asked for', async () => {
    expect(await names({})).toEqual(['A'])
    expect(await names({ FEATURE_COUNT: 10 })).toEqual(['A', 'B'])
    expect(await names({ I: 104, J: 104, FEATURE_COUNT: 10 })).toEqual(['A', 'B'])
    expect(await names({ I: 107, FEATURE_COUNT: 10 })).toEqual([])
    expect((await info({})).headers['content-type']).toBe('application/json')
  })

  test('the axis order and the names of 1.1.1 lead to the same features', async () => {
    expect(await names({ CRS: 'EPSG:4326', BBOX: '10,0,30,20' })).toEqual(['A'])
    const { CRS: _crs, I: _i, J: _j, ...rest } = { ...INFO, ...AT, INFO_FORMAT: 'application/json' }
    const old = await ask({ ...rest, VERSION: '1.1.1', SRS: 'EPSG:4326', X: 100, Y: 100 })
    expect(String(old.body)).toContain('"name":"A"')
  })

  test('returns text by layer', async () => {
    const { body, headers } = await info({ INFO_FORMAT: 'text/plain' })
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(String(body)).toBe('Layer points\n  Feature 7\n    name = A\n    height = 5\n')
  })

  test('a vector is queried by its code also if a basemap has the same', async () => {
    expect(await names({ LAYERS: 'world', QUERY_LAYERS: 'world' })).toEqual(['A'])
    expect(await names({ QUERY_LAYERS: 'vector:world' })).toEqual(['A'])
    expect(await names({ QUERY_LAYERS: 'points,vector:world' })).toEqual(['A', 'A'])
  })

  test('a token sees only the features in its area, and only vectors that it may read', async () => {
    const limits = { origins: [], networks: [], rate: null, area: [10.005, 10, 20, 30] }
    const cut = { 'x-access-token': issue({ limits: limits as never }) }
    const { body } = await ask({ ...INFO, ...AT, INFO_FORMAT: 'application/json', FEATURE_COUNT: 9 }, cut)
    expect(String(body)).not.toContain('"name":"A"')
    expect(String(body)).toContain('"name":"B"')
    const other = { 'x-access-token': issue({ vectors: new Set(['other']) }) }
    expect((await ask({ ...INFO, ...AT }, other)).status).toBe(403)
  })
})

describe('errors', () => {
  const codeOf = (body: Buffer) => /<ServiceException(?: code="(\w+)")?>/.exec(String(body))?.[1] ?? null

  test.each<[Parameters, number, string | null]>([
    [{ LAYERS: 'nothing' }, 404, 'LayerNotDefined'],
    [{ LAYERS: 'vector' }, 404, 'LayerNotDefined'],
    [{ LAYERS: 'points' }, 404, 'LayerNotDefined'],
    [{ LAYERS: '' }, 400, null],
    [{ VERSION: '' }, 400, null],
    [{ STYLES: 'red' }, 400, 'StyleNotDefined'],
    [{ STYLES: 'default,default' }, 400, 'StyleNotDefined'],
    [{ CRS: 'EPSG:32650' }, 400, 'InvalidCRS'],
    [{ VERSION: '1.1.1', SRS: 'EPSG:32650' }, 400, 'InvalidSRS'],
    [{ FORMAT: 'image/tiff' }, 400, 'InvalidFormat'],
    [{ BBOX: '1,1,0,0' }, 400, null],
    [{ BBOX: '0,0,0,1' }, 400, null],
    [{ BBOX: '0,0,1' }, 400, null],
    [{ WIDTH: 4097 }, 400, null],
    [{ WIDTH: 0 }, 400, null],
    [{ BGCOLOR: 'red' }, 400, null],
    [{ TIME: 'yesterday' }, 400, 'InvalidDimensionValue'],
    [{ REQUEST: 'GetPicture' }, 400, 'OperationNotSupported'],
    [{ SERVICE: 'WFS' }, 400, null],
    [{ LAYERS: 'deep' }, 400, null],
    [{ ...INFO, ...AT, QUERY_LAYERS: 'flat' }, 400, 'LayerNotQueryable'],
    [{ ...INFO, ...AT, QUERY_LAYERS: 'none' }, 404, 'LayerNotDefined'],
    [{ ...INFO, ...AT, I: 200 }, 400, 'InvalidPoint'],
    [{ ...INFO, ...AT, J: -1 }, 400, 'InvalidPoint'],
    [{ ...INFO, ...AT, INFO_FORMAT: 'text/html' }, 400, 'InvalidFormat'],
  ])('%j returns %i and %s', async (more, status, code) => {
    const { status: found, headers, body } = await ask({ ...MAP, ...more })
    expect([found, codeOf(body)]).toEqual([status, code])
    const isOld = more.VERSION === '1.1.1'
    expect(headers['content-type']).toBe(isOld ? 'application/vnd.ogc.se_xml' : 'text/xml; charset=utf-8')
  })
})

describe('GetCapabilities', () => {
  const capabilities = async (more: Parameters = {}, headers?: http.OutgoingHttpHeaders) => {
    const answer = await ask({ SERVICE: 'WMS', REQUEST: 'GetCapabilities', ...more }, headers)
    return { type: answer.headers['content-type'], text: String(answer.body) }
  }
  const layersOf = (text: string) => [...text.matchAll(/<Name>([a-z]+)<\/Name>\n<Title>/g)].map(([, name]) => name)

  test.each([
    [undefined, '1.3.0'],
    ['1.3.0', '1.3.0'],
    ['1.4.0', '1.3.0'],
    ['1.2.0', '1.1.1'],
    ['1.1.1', '1.1.1'],
    ['1.0.0', '1.1.1'],
  ])('version %s is answered in %s', async (asked, version) => {
    const { type, text } = await capabilities(asked === undefined ? {} : { VERSION: asked })
    expect(text).toContain(` version="${version}"`)
    expect(type).toBe(version === '1.1.1' ? 'application/vnd.ogc.wms_xml' : 'text/xml; charset=utf-8')
    expect(layersOf(text).filter((name) => name !== 'default')).toEqual(['broken', 'deep', 'flat', 'world'])
    expect(text).toContain('<Title>World &amp; &lt;sea&gt;</Title>')
  })

  test('lists only what the token may read, and carries it only if it came in the query', async () => {
    const token = issue({ basemaps: new Set(['flat']) })
    const plain = await capabilities({}, { 'x-access-token': token })
    expect(layersOf(plain.text).filter((name) => name !== 'default')).toEqual(['flat'])
    expect(plain.text).not.toContain('bmp_')
    const { text } = await capabilities({ token }, {})
    const [, href = ''] = /<GetMap>[\s\S]*?xlink:href="([^"]*)"/.exec(text) ?? []
    expect(href.endsWith(`/wms?token=${token}&amp;`)).toBe(true)
  })

  test('a layer that begins at a fine zoom tells the scale from which it is drawn', async () => {
    const { text } = await capabilities()
    const deep = text.slice(text.indexOf('<Name>deep</Name>'), text.indexOf('<Name>flat</Name>'))
    expect(deep).toContain(`<MaxScaleDenominator>${(559082264.0287178 / 4096) * 4}</MaxScaleDenominator>`)
  })
})
