import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type { AccessToken } from '@gateway/core/access/decide.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { ownMatrices, ownSetId } from '@gateway/tilesets/gauss-krueger.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const RESOLUTIONS = [132.2919312505292, 66.1459656252646, 26.458386250105836]
const MATRICES = ownMatrices({
  ...{ code: 4547, left: -5123200, top: 10002100, columns: 256, rows: 256 },
  resolutions: RESOLUTIONS,
})
const ID = ownSetId(MATRICES)
/** At 114.5 degrees east, 30.5 north. */
const PLACE = { z: 2, x: 837, y: 978 }
const TILE = Buffer.from('a picture')

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'own-grids-'))
let running: RunningEdge
beforeAll(async () => {
  const { z, x, y } = PLACE
  fs.mkdirSync(path.join(home, `city/${z}/${x}`), { recursive: true })
  fs.writeFileSync(path.join(home, `city/${z}/${x}/${y}.png`), TILE)
  const version = storedVersion('v1', {
    ...{ path: path.join(home, 'city'), minZoom: 0, maxZoom: 2, bounds: [114.4, 30.4, 114.6, 30.6] },
    ...{ tileMatrixSet: ID, tileMatrices: MATRICES },
  })
  const rows = [storedBasemap('city', [version], { sourcePath: home })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  const controlPlane = 'http://127.0.0.1:1'
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane })
})
afterAll(async () => {
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function ask(address: string, token = running.token): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(running.url)
    const options = { agent: false, hostname, port, path: address, headers: { 'x-access-token': token } }
    http
      .get(options, async (res) => {
        const parts: Buffer[] = []
        for await (const part of res) parts.push(part as Buffer)
        resolve({ status: res.statusCode ?? 0, body: Buffer.concat(parts) })
      })
      .once('error', reject)
  })
}
const text = async (address: string) => (await ask(address)).body.toString()
const json = async (address: string) => JSON.parse(await text(address))

test('a tile is served at its numbers, which are beyond those of a quadtree, also once it is kept', async () => {
  for (let i = 0; i < 5; i++) expect(await ask('/tiles/city/v1/2/837/978.png')).toEqual({ status: 200, body: TILE })
  expect((await ask('/tiles/city/2/837/979.png')).status).toBe(404)
  expect(await text('/tiles/city/2/99999/0.png')).toContain(`zoom 2 of ${ID} has columns 0 to`)
  expect(await text('/tiles/city/3/1/1.png')).toContain('zooms go from 0 to 2')
})

test('TileJSON names the system and the set', async () => {
  expect(await json('/tiles/city/tilejson.json')).toMatchObject({ crs: 'EPSG:4547', tile_matrix_set: ID, maxzoom: 2 })
})

test('there is no style, because a map of styles would draw the tiles in another place', async () => {
  const { status, body } = await ask('/tiles/city/style.json')
  expect(status).toBe(404)
  expect(body.toString()).toContain(`tiles in ${ID}, and styles can show only Web Mercator`)
})

describe('WMTS', () => {
  test('the capabilities define the set with the northing first', async () => {
    const capabilities = await text('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities')
    expect(capabilities).toContain(`<TileMatrixSet>${ID}</TileMatrixSet>`)
    expect(capabilities).toContain('<ows:SupportedCRS>urn:ogc:def:crs:EPSG::4547</ows:SupportedCRS>')
    expect(capabilities).toContain('<TopLeftCorner>10002100 -5123200</TopLeftCorner>')
    expect(capabilities).toMatch(/<ScaleDenominator>94494\.2366/)
    expect(capabilities).toMatch(/<TileMatrix>2<\/TileMatrix><MinTileRow>976<\/MinTileRow><MaxTileRow>979</)
  })

  test('a tile is read by key and value, and one outside is out of range', async () => {
    const tile = (row: number) =>
      `/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=city&STYLE=default&FORMAT=image/png&TILEMATRIXSET=${ID}_0_2&TILEMATRIX=2&TILEROW=${row}&TILECOL=837`
    expect((await ask(tile(978))).body).toEqual(TILE)
    expect(await text(tile(9999))).toContain('TileOutOfRange')
    expect(await text(tile(978).replace('TILEMATRIX=2', 'TILEMATRIX=3'))).toContain('there is no such matrix')
  })
})

describe('OGC API - Tiles', () => {
  test('the set is defined for those who may read a layer in it, and is in the list', async () => {
    const set = await json(`/ogc/tileMatrixSets/${ID}`)
    expect(set).toMatchObject({ id: ID, crs: 'http://www.opengis.net/def/crs/EPSG/0/4547', orderedAxes: ['X', 'Y'] })
    expect(set.tileMatrices).toHaveLength(3)
    expect(set.tileMatrices[2]).toMatchObject({
      ...{ id: '2', cellSize: RESOLUTIONS[2], pointOfOrigin: [10002100, -5123200], tileWidth: 256 },
    })
    const { tileMatrixSets } = await json('/ogc/tileMatrixSets')
    expect(tileMatrixSets.map(({ id }: { id: string }) => id)).toContain(ID)
    expect((await ask('/ogc/tileMatrixSets/EPSG4547_00000000')).status).toBe(404)
    const other = createToken()
    const stored: AccessToken = { ...READER, id: 'other', basemaps: new Set(['other']) }
    running.storedTokens.set(tokenDigest(other).toString('hex'), stored)
    expect((await ask(`/ogc/tileMatrixSets/${ID}`, other)).status).toBe(404)
  })

  test('the tileset and its tiles are there', async () => {
    const tileset = await json(`/ogc/collections/city/map/tiles/${ID}`)
    expect(tileset).toMatchObject({ tileMatrixSetId: ID, boundingBox: { orderedAxes: ['X', 'Y'] } })
    expect(tileset.tileMatrixSetLimits[2]).toMatchObject({ tileMatrix: '2', minTileCol: 835 })
    const [north, east] = tileset.boundingBox.upperRight
    expect([Math.round(north / 1000), Math.round(east / 1000)]).toEqual([3387, 558])
    expect((await ask(`/ogc/collections/city/map/tiles/${ID}/2/978/837`)).body).toEqual(TILE)
  })
})

test('ArcGIS REST has the scheme as the cache has it', async () => {
  const { tileInfo, spatialReference, fullExtent } = await json('/arcgis/rest/services/city/MapServer?f=json')
  expect(spatialReference).toEqual({ wkid: 4547, latestWkid: 4547 })
  expect(tileInfo.origin).toEqual({ x: -5123200, y: 10002100 })
  expect(tileInfo.lods.map(({ resolution }: { resolution: number }) => resolution)).toEqual(RESOLUTIONS)
  expect(tileInfo.lods[0].scale).toBeCloseTo(500_000, -2)
  expect(Math.round(fullExtent.xmax / 1000)).toBe(558)
  expect((await ask('/arcgis/rest/services/city/MapServer/tile/2/978/837')).body).toEqual(TILE)
  expect((await json('/arcgis/rest/services/city/MapServer/tilemap/2/978/837/2/1')).data).toEqual([1, 0])
})

test('services that know quadtrees only do not list it', async () => {
  expect(await text('/tms/1.0.0')).not.toContain('city')
  expect((await ask('/tms/1.0.0/city')).status).toBe(404)
  for (const set of ['w', 'c'])
    expect((await ask(`/tianditu/city_${set}/wmts?REQUEST=GetCapabilities`)).status).toBe(404)
})

test('a token with an area reads the tiles that touch it', async () => {
  const limits = (area: [number, number, number, number]) => {
    const token = createToken()
    const stored = {
      ...READER,
      id: `area ${area}`,
      limits: { origins: new Set<string>(), networks: [], rate: null, area },
    }
    running.storedTokens.set(tokenDigest(token).toString('hex'), stored)
    return token
  }
  const tile = '/tiles/city/v1/2/837/978.png'
  expect((await ask(tile, limits([114.45, 30.45, 114.55, 30.55]))).status).toBe(200)
  expect((await ask(tile, limits([110, 25, 111, 26]))).status).toBe(403)
})
