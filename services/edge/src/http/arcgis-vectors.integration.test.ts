import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const SERVICES = '/arcgis/rest/services'
const TILE = Buffer.from(`\x1a${'roads '.repeat(100)}`)
const THEN = new Date('2026-01-01T00:00:00Z')
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'arcgis-vectors-'))

const STYLE = {
  version: 8,
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/day',
  sources: {
    roads: { type: 'vector', url: 'gateway://vectors/roads' },
    old: { type: 'vector', url: 'gateway://basemaps/streets/v1' },
    photo: { type: 'raster', url: 'gateway://basemaps/photo' },
  },
  layers: [{ id: 'roads', type: 'line', source: 'roads', 'source-layer': 'roads' }],
}

function storedStyle(code: string, document: object, sources: StoredStyle['dependencies']['sources']): StoredStyle {
  return {
    ...{ code, name: `Style ${code}`, sourceCode: 'styles', sourcePath: home, sourceEnabled: true, path: home },
    document: JSON.stringify(document),
    dependencies: { sources, fonts: [], icons: [], sprites: [], files: [], hosts: [] },
    assets: { sprites: [], files: [] },
    ...{ fingerprint: 'f', revision: 1, available: true, withdrawn: false, createdAt: THEN, updatedAt: THEN },
  }
}

let running: RunningEdge
beforeAll(async () => {
  const folder = path.join(home, 'build')
  fs.mkdirSync(folder)
  const layers = [{ id: 'roads', fields: {} }]
  await writePmtiles(path.join(folder, 'tiles.pmtiles'), [{ z: 1, x: 1, y: 0, data: gzipSync(TILE) }], {
    ...{ format: 'pbf', encoding: 'gzip', bounds: [0, 0, 90, 60], metadata: { vector_layers: layers } },
  })
  const build = { minZoom: 0, maxZoom: 5, bounds: [0, 0, 90, 60], vectorLayers: layers, folder, builtAt: 'then' }
  const roads = storedVector('roads')
  const tiles = { ...roads.tiles, build: build as unknown as NonNullable<typeof roads.tiles.build>, buildRevision: 1 }
  const pbf = { format: 'pbf', extension: 'pbf' } as const
  const basemaps = [
    storedBasemap('photo', [storedVersion('v1')]),
    storedBasemap('streets', [storedVersion('v1', { ...pbf, vectorLayers: layers })]),
  ]
  const styles = [
    storedStyle('day', STYLE, [
      { name: 'roads', kind: 'vector', code: 'roads', version: null },
      { name: 'old', kind: 'basemap', code: 'streets', version: 'v1' },
      { name: 'photo', kind: 'basemap', code: 'photo', version: null },
    ]),
    storedStyle('air', { version: 8, sources: {}, layers: [] }, [
      { name: 'photo', kind: 'basemap', code: 'photo', version: null },
    ]),
    storedStyle('roads', STYLE, [{ name: 'roads', kind: 'vector', code: 'roads', version: null }]),
  ]
  const catalog = nextCatalog(
    EMPTY_CATALOG,
    { codes: null, rows: basemaps },
    { codes: null, rows: [{ ...roads, tiles }, storedVector('points')] },
    { styles: { codes: null, rows: styles }, fonts: null },
  )
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
    const headers = token === '' ? {} : { 'x-access-token': token }
    http
      .get({ agent: false, hostname, port, path: address, headers }, async (res) => {
        const parts: Buffer[] = []
        for await (const part of res) parts.push(part as Buffer)
        resolve({ status: res.statusCode ?? 0, body: Buffer.concat(parts) })
      })
      .once('error', reject)
  })
}
const json = async (address: string, token?: string) => JSON.parse((await ask(address, token)).body.toString())

function tokenOf(grants: { basemaps: string[]; vectors: string[] }): string {
  const token = createToken()
  const stored = { ...READER, id: token, basemaps: new Set(grants.basemaps), vectors: new Set(grants.vectors) }
  running.storedTokens.set(tokenDigest(token).toString('hex'), stored)
  return token
}

test('the list has vectors with tiles and styles that draw vector tiles, each name once, as far as they are granted', async () => {
  const names = async (token?: string) =>
    (await json(`${SERVICES}?f=json`, token)).services.map(
      ({ name, type }: { name: string; type: string }) => `${name} ${type}`,
    )
  const vectors = ['roads VectorTileServer', 'day VectorTileServer']
  expect(await names()).toEqual(['photo MapServer', 'streets VectorTileServer', ...vectors])
  expect(await names(tokenOf({ basemaps: [], vectors: ['roads'] }))).toEqual(['roads VectorTileServer'])
})

test('a vector is a vector tile service with its tiles, extent and a style', async () => {
  const service = await json(`${SERVICES}/roads/VectorTileServer?f=json`)
  expect(service).toMatchObject({ name: 'roads', tiles: ['tile/{z}/{y}/{x}.pbf'], minzoom: 0, maxzoom: 5 })
  expect(service.fullExtent.xmax).toBeCloseTo(10018754.17, 1)
  const { body } = await ask(`${SERVICES}/roads/VectorTileServer/tile/1/0/1.pbf`)
  expect(body[0] === 0x1f ? gunzipSync(body) : body).toEqual(TILE)
  const style = await json(`${SERVICES}/roads/VectorTileServer/resources/styles/root.json`)
  expect(style.layers[1]).toMatchObject({ type: 'line', 'source-layer': 'roads' })
})

test('OGC API – Tiles has a tileset of each vector with tiles, and its collection links to it', async () => {
  const { tilePublicBaseUrl: base } = running.edge.settings
  const collection = await json('/ogc/collections/roads')
  const rel = 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector'
  expect(collection.links).toContainEqual({
    rel,
    href: `${base}/ogc/collections/roads/tiles`,
    type: 'application/json',
  })
  const { tilesets } = await json('/ogc/collections/roads/tiles')
  expect(tilesets).toMatchObject([{ dataType: 'vector', tileMatrixSetId: 'WebMercatorQuad' }])
  const tileset = await json('/ogc/collections/roads/tiles/WebMercatorQuad')
  expect(tileset).toMatchObject({ dataType: 'vector', layers: [{ id: 'roads', dataType: 'vector' }] })
  const { href } = tileset.links.find((link: { rel: string }) => link.rel === 'item')
  expect(href).toBe(`${base}/vectors/roads/tiles/{tileMatrix}/{tileCol}/{tileRow}.mvt?v=1`)
  expect((await ask('/vectors/roads/tiles/1/1/0.mvt?v=1')).status).toBe(200)
  const withToken = await json(`/ogc/collections/roads/tiles?token=${running.token}`, '')
  expect(withToken.tilesets[0].links[0].href).toContain(`token=${running.token}`)
  expect((await json('/ogc/collections/points')).links).not.toContainEqual(expect.objectContaining({ rel }))
  const statuses = await Promise.all(
    [
      '/ogc/collections/points/tiles',
      '/ogc/collections/nothing/tiles',
      '/ogc/collections/roads/tiles/WorldCRS84Quad',
    ].map(async (address) => (await ask(address)).status),
  )
  expect(statuses).toEqual([404, 404, 404])
  const other = tokenOf({ basemaps: ['photo'], vectors: ['points'] })
  expect((await ask('/ogc/collections/roads/tiles', other)).status).toBe(403)
  expect((await ask('/ogc/collections/roads/tiles', '')).status).toBe(401)
})

test('a style is a vector tile service whose sources are services, with sprites and glyphs where they are', async () => {
  const service = await json(`${SERVICES}/day/VectorTileServer?f=json`)
  const { tileBase } = { tileBase: running.edge.settings.tilePublicBaseUrl }
  expect(service).toMatchObject({
    ...{ name: 'Style day', defaultStyles: 'resources/styles', maxzoom: 5 },
    tiles: [`${tileBase}${SERVICES}/roads/VectorTileServer/tile/{z}/{y}/{x}.pbf`],
  })
  for (const file of ['resources/styles', 'resources/styles/root.json']) {
    const { sources, sprite, glyphs } = await json(`${SERVICES}/day/VectorTileServer/${file}`)
    expect(sources.roads).toEqual({ type: 'vector', url: `${tileBase}${SERVICES}/roads/VectorTileServer` })
    // A fixed version has no separate service.
    expect(sources.old.url).toBe(`${tileBase}/tiles/streets/v1/tilejson.json`)
    expect(sprite).toBe(`${tileBase}/styles/day/sprite`)
    expect(glyphs).toContain(`${tileBase}/fonts/{fontstack}/{range}.pbf`)
  }
  const asked = await json(`${SERVICES}/day/VectorTileServer/resources/styles/root.json?token=${running.token}`, '')
  expect(asked.sources.roads.url).toBe(`${tileBase}${SERVICES}/roads/VectorTileServer?token=${running.token}`)
})

test.each([
  ['a vector without tiles', 'points/VectorTileServer', undefined, 404],
  ['a style without vector tiles', 'air/VectorTileServer', undefined, 404],
  ['tiles of a style', 'day/VectorTileServer/tile/1/0/1.pbf', undefined, 404],
  ['a tile that is missing', 'roads/VectorTileServer/tile/9/0/1.pbf', undefined, 404],
  ['a tile that is none', 'roads/VectorTileServer/tile/1/x/1.pbf', undefined, 400],
  ['a vector that is not granted', 'roads/VectorTileServer', { basemaps: ['*'], vectors: [] }, 403],
  ['a tile of such a vector', 'roads/VectorTileServer/tile/1/0/1.pbf', { basemaps: ['*'], vectors: [] }, 403],
  ['a style of which a part is not granted', 'day/VectorTileServer', { basemaps: ['*'], vectors: [] }, 403],
] as const)('%s is refused in the form of Esri', async (_, address, grants, status) => {
  const token = grants && tokenOf({ basemaps: [...grants.basemaps], vectors: [...grants.vectors] })
  const answer = await ask(`${SERVICES}/${address}`, token)
  expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([status, status])
})
