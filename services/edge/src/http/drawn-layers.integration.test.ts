import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import type { DrawTask } from '@gateway/contracts/drawing.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Catalog, EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const THEN = new Date('2026-01-01T00:00:00Z')
let home: string
let running: RunningEdge
const [poor, bounded] = [createToken(), createToken()]
/** views that were drawn */
const drawn: DrawTask[] = []

/** A renderer whose pieces tell their place in the square by their colour. */
async function draw(task: DrawTask) {
  drawn.push(task)
  const side = (task.width * task.ratio) / task.pieces
  const pieces = Array.from({ length: task.pieces ** 2 }, (_, i) =>
    sharp({ create: { width: side, height: side, channels: 3, background: { r: 10 * i, g: 200, b: 30 } } })
      .png()
      .toBuffer(),
  )
  return { ok: true, pieces: await Promise.all(pieces) } as const
}

function style(code: string, revision: number, dataFiles: readonly string[] = []): StoredStyle {
  const sources = [{ name: 'tiles', kind: 'basemap', code: 'place', version: null } as const]
  const document = { version: 8, sources: { tiles: { type: 'raster', url: 'gateway://basemaps/place' } }, layers: [] }
  return {
    ...{ code, name: `The ${code}`, sourceCode: 's', sourcePath: home, sourceEnabled: true, path: home },
    document: JSON.stringify(document),
    dependencies: { sources, fonts: [], icons: [], sprites: [], files: [], hosts: [] },
    assets: { sprites: [], files: dataFiles.map((name) => ({ name, path: name })) },
    ...{ fingerprint: String(revision), revision, available: true, withdrawn: false, createdAt: THEN, updatedAt: THEN },
  }
}

const roads = () => {
  const { tiles, ...vector } = storedVector('roads', { sourcePath: home })
  const build = {
    ...{ folder: path.join(home, 'built'), builtAt: THEN, bytes: 1, features: 1, minZoom: 0, maxZoom: 4 },
    ...{ bounds: [7, 50, 8, 51] as const, vectorLayers: [], hasIndex: true, hasTiles: true },
  }
  return { ...vector, tiles: { ...tiles, build: build as never, buildRevision: 1 } }
}

/** The style `place` has the code of a basemap. */
const rows = (revision: number) =>
  nextCatalog(
    EMPTY_CATALOG,
    {
      codes: null,
      rows: [
        storedBasemap('place', [storedVersion('v1', { path: path.join(home, 'tiles'), maxZoom: 2 })], {
          sourcePath: home,
          defaultVersion: 'v1',
        }),
      ],
    },
    { codes: null, rows: [roads()] },
    {
      styles: { codes: null, rows: [style('day', revision), style('place', 1), style('data', 1, ['a.json'])] },
      fonts: [],
    },
  )

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'drawn-')))
  running = await runEdge({
    port: await freePort(),
    catalog: rows(1),
    dataDir: path.join(home, 'data'),
    controlPlane: 'http://[::1]:1',
    draw,
    // Nothing starts it.
    env: { CHROMIUM_PATH: process.execPath },
  })
  running.edge.signed.setKeys([{ secret: Buffer.alloc(32, 7), expiresAt: null }])
  const stored = (token: string) => tokenDigest(token).toString('hex')
  running.storedTokens.set(stored(poor), { ...READER, id: 'poor', basemaps: new Set(['other']), vectors: new Set() })
  const limits = { origins: new Set<string>(), networks: [], rate: null, area: [1, 40, 20, 60] as Bounds }
  running.storedTokens.set(stored(bounded), { ...READER, id: 'bounded', limits })
})
afterAll(async () => {
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  fs.rmSync(home, { recursive: true, force: true })
})

function follow(next: Catalog): void {
  running.edge.native.follow(next)
  Object.assign(running.edge.freshness, { catalog: next })
}

const get = (address: string, token = running.token) =>
  fetch(`${running.url}${address}`, { headers: { authorization: `Bearer ${token}` } })
const text = async (address: string, token?: string) => (await get(address, token)).text()

const KVP = 'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&STYLE=default&TILEMATRIX=2&TILEROW=1&TILECOL=3'
/** The addresses of the tile 2/3/1 in each protocol. */
const tilesOf = (code: string) => [
  `/wmts?${KVP}&LAYER=${code}&TILEMATRIXSET=WebMercatorQuadx2_0_22&FORMAT=image/png`,
  `/tms/1.0.0/${code}/2/3/2.png`,
  `/tms/1.0.0/${code}?tile=/2/3/2.png`,
  `/ogc/collections/${code}/map/tiles/WebMercatorQuad/2/1/3`,
  `/arcgis/rest/services/${code}/MapServer/tile/2/1/3`,
  `/tianditu/${code}_w/wmts?${KVP}&LAYER=${code}&TILEMATRIXSET=w&FORMAT=tiles`,
  `/tianditu/${code}_w/DataServer?T=${code}_w&x=3&y=1&l=2`,
]
const mapOf = (code: string) =>
  `/wms?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=${code}&STYLES=&CRS=EPSG:3857&WIDTH=512&HEIGHT=512&FORMAT=image/png&BBOX=10018754.171394622,0,20037508.342789244,10018754.171394622`
/** The documents that list layers. */
const LISTS = [
  '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities',
  '/wmts/1.0.0/WMTSCapabilities.xml',
  '/wms?SERVICE=WMS&REQUEST=GetCapabilities',
  '/tms/1.0.0',
  '/ogc/collections',
  '/arcgis/rest/services',
]
/** The documents of one layer. */
const documentsOf = (code: string) => [
  `/tms/1.0.0/${code}`,
  `/ogc/collections/${code}/map/tiles`,
  `/ogc/collections/${code}/map/tiles/WebMercatorQuadx2`,
  `/arcgis/rest/services/${code}/MapServer`,
  `/arcgis/rest/services/${code}/MapServer/tilemap/2/0/0/4/4`,
  `/tianditu/${code}_w/wmts?SERVICE=WMTS&REQUEST=GetCapabilities`,
]

test.each(['day', 'roads'])(
  '%s is a layer of every protocol, with the same tiles as at the address of its pictures',
  async (code) => {
    const own = await get(`/styles/${code}/2/3/1.png`)
    const bytes = Buffer.from(await own.arrayBuffer())
    expect(await sharp(bytes).stats()).toMatchObject({ channels: [{ mean: 70 }, { mean: 200 }, { mean: 30 }] })
    for (const address of tilesOf(code)) {
      const answer = await get(address)
      expect([answer.status, answer.headers.get('etag')], address).toEqual([200, own.headers.get('etag')])
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes), address).toBe(true)
    }
    const map = Buffer.from(await (await get(mapOf(code))).arrayBuffer())
    const pixels = (png: Buffer) => sharp(png).ensureAlpha().raw().toBuffer()
    expect((await pixels(map)).equals(await pixels(bytes))).toBe(true)
    // One square, whatever the protocol.
    expect(
      drawn.filter(({ revision }) => revision.startsWith(code) || revision.startsWith(`vectors/${code}`)),
    ).toHaveLength(1)
  },
)

test('documents list what is drawn for tokens that may read all of its sources, and name addresses that work', async () => {
  for (const address of LISTS) {
    const listed = await text(address)
    expect(listed, address).toMatch(/\bday\b/)
    expect(listed, address).toMatch(/\broads\b/)
    const hidden = await get(address, poor)
    expect([hidden.status, (await hidden.text()).match(/\bday\b|\broads\b/)], address).toEqual([200, null])
  }
  for (const code of ['day', 'roads'])
    for (const address of [...documentsOf(code), ...tilesOf(code), mapOf(code)]) {
      expect((await get(address)).status, address).toBe(200)
      expect((await get(address, poor)).status, address).toBe(403)
    }
  const [template = ''] = /http[^"]*\/styles\/day\/[^"]*/.exec(await text(LISTS[0] as string)) ?? []
  const place = template.replace('{TileMatrix}', '2').replace('{TileCol}', '3').replace('{TileRow}', '1')
  const tile = await get(place.replaceAll('&amp;', '&').slice(place.indexOf('/styles')))
  expect([tile.status, tile.headers.get('cache-control')]).toEqual([200, expect.stringContaining('immutable')])
  const links = JSON.stringify(await (await get('/ogc/collections/roads')).json())
  expect(links).toContain('/ogc/collections/roads/map/tiles')
  expect(links).toContain('/ogc/collections/roads/items')
  expect(await text('/wms?REQUEST=GetCapabilities')).toMatch(/<Layer queryable="1" opaque="0">\s*<Name>roads/)
})

test('styles and vectors link to a picture, and a token with bounds gets no such link', async () => {
  for (const address of ['/ogc/styles', '/ogc/styles/day/metadata', '/ogc/collections/roads', '/ogc/collections']) {
    const listed = await text(address)
    const [, picture = ''] = /"preview","href":"http:\/\/[^/]+(\/[^"]*)"/.exec(listed) ?? []
    const answer = await get(picture)
    expect([answer.status, answer.headers.get('content-type')], address).toEqual([200, 'image/png'])
    const forBounded = await get(address, bounded)
    expect([forBounded.status, await forBounded.text()], address).toEqual([200, expect.not.stringContaining('preview')])
  }
})

test('a token with bounds gets the tiles that touch them, also of a style with a data file', async () => {
  const outside = (address: string) => address.replace('TILECOL=3', 'TILECOL=0').replace('/2/3/', '/2/0/')
  const address = outside(tilesOf('day')[0] as string)
  expect((await get(address, bounded)).status).toBe(403)
  expect((await get(tilesOf('day')[1]?.replace('/2/3/2', '/2/2/2') as string, bounded)).status).toBe(200)
  for (const one of [...documentsOf('data'), mapOf('data')]) expect((await get(one, bounded)).status, one).toBe(200)
  expect(JSON.parse(await text('/styles/data/tilejson.json', bounded))).toMatchObject({ bounds: [1, 40, 20, 60] })
  const tile = tilesOf('data')[1] as string
  expect((await get(tile.replace('/2/3/2', '/2/2/2'), bounded)).status).toBe(200)
  expect((await get(tile.replace('/2/3/2', '/2/0/0'), bounded)).status).toBe(403)
})

test('a basemap keeps its code, and a change of a style changes the documents and the tiles', async () => {
  const before = await get('/styles/place/2/3/1.png')
  expect(before.status).toBe(200)
  // The folder of the basemap is empty.
  for (const address of tilesOf('place')) expect((await get(address)).status, address).not.toBe(200)
  const capabilities = await text(LISTS[0] as string)
  expect(capabilities.match(/<ows:Identifier>place</g)).toHaveLength(1)
  expect(capabilities).not.toContain('/styles/place/')
  follow(rows(2))
  expect(await text(LISTS[0] as string)).not.toBe(capabilities)
  const squares = drawn.length
  expect((await get(tilesOf('day')[0] as string)).status).toBe(200)
  expect(drawn.length).toBe(squares + 1)
})

test('without Chromium nothing is listed, the collection of a vector stays, and other addresses say what to install', async () => {
  Object.defineProperty(running.edge.pictures, 'available', { value: false })
  follow(rows(3))
  for (const address of LISTS) expect(await text(address), address).not.toMatch(/\bday\b/)
  for (const address of LISTS.filter((one) => !/ogc|arcgis/.test(one)))
    expect(await text(address), address).not.toMatch(/\broads\b/)
  const collection = await get('/ogc/collections/roads')
  const said = await collection.text()
  expect([collection.status, said]).toEqual([200, expect.not.stringContaining('map/tiles')])
  for (const listed of [said, await text('/ogc/styles')]) expect(listed).not.toContain('preview')
  for (const address of [...documentsOf('day'), ...tilesOf('day'), mapOf('day'), '/ogc/collections/day']) {
    const answer = await get(address)
    expect([answer.status, await answer.text()], address).toEqual([404, expect.stringMatching(/Chromium|chromium/)])
  }
  // A page that would show a picture next to other content asks for no error.
  expect((await get('/styles/day/static/0,0,1/20x20.png?missing=204')).status).toBe(204)
})
