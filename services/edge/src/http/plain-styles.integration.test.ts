import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedVector } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'plain-styles-'))
const LAYERS = [
  { id: '道路', fields: { name: 'String' } },
  { id: 'water.bodies', fields: { depth: 'Number' } },
]
let running: RunningEdge

beforeAll(async () => {
  const build = { minZoom: 0, maxZoom: 5, bounds: [0, 0, 90, 60], vectorLayers: LAYERS, folder: home, builtAt: 'then' }
  const city = storedVector('city')
  const tiles = { ...city.tiles, build: build as unknown as NonNullable<typeof city.tiles.build>, buildRevision: 1 }
  const large = { ...storedVector('large'), size: 21e6, tiles: { ...city.tiles, build: null, queued: true } }
  const moon = { ...city.tiles, build: null, queued: false, message: 'its coordinates are on the moon' }
  const rows = [{ ...city, tiles }, storedVector('points'), large, { ...storedVector('broken'), tiles: moon }]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [] }, { codes: null, rows })
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://127.0.0.1:1' })
})
afterAll(async () => {
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

interface Style {
  readonly center?: readonly number[]
  readonly sources: object
  readonly layers: readonly { readonly type: string; readonly 'source-layer'?: string }[]
}
async function styleOf(code: string): Promise<Style> {
  const headers = { 'x-access-token': running.token }
  return (await fetch(`${running.url}/vectors/${code}/style.json`, { headers })).json() as Promise<Style>
}
const layersOf = ({ layers }: Style, types: readonly string[]) => [
  ...new Set(layers.flatMap((layer) => (types.includes(layer.type) ? (layer['source-layer'] ?? []) : []))),
]

test('the plain style of a vector draws every layer of its tiles, and labels those that have names', async () => {
  const style = await styleOf('city')
  for (const type of ['fill', 'line', 'circle']) expect(layersOf(style, [type])).toEqual(['道路', 'water.bodies'])
  expect(layersOf(style, ['symbol'])).toEqual(['道路'])
  expect(style.center).toEqual([45, 30])
})

test('the plain style of a vector without tiles draws its GeoJSON, which has no layers', async () => {
  const style = await styleOf('points')
  expect(style.sources).toEqual({
    data: { type: 'geojson', data: expect.stringMatching(/\/vectors\/points\.geojson$/) },
  })
  expect(style.layers.map(({ type }) => type)).toEqual(expect.arrayContaining(['fill', 'line', 'circle']))
  expect(layersOf(style, ['fill', 'line', 'circle'])).toEqual([])
})

test.each([
  ['large', /larger than 20 MB/],
  ['broken', /cannot be drawn: its coordinates are on the moon/],
])('the vector %s, which nothing draws, has no plain style, with the reason', async (code, reason) => {
  const headers = { 'x-access-token': running.token }
  const answer = await fetch(`${running.url}/vectors/${code}/style.json`, { headers })
  expect([answer.status, await answer.json()]).toEqual([404, { error: expect.stringMatching(reason) }])
  const collection = await fetch(`${running.url}/ogc/collections/${code}`, { headers })
  expect(((await collection.json()) as { links: { rel: string }[] }).links.map(({ rel }) => rel)).toEqual([
    'self',
    'enclosure',
  ])
})
