import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { expect, test } from 'vitest'
import { READER } from '../testing/running-edge.js'
import { ask, running, useServingEdge } from '../testing/serving-edge.js'

useServingEdge()

const KVP = 'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=raster&STYLE=default&TILEMATRIXSET=w&FORMAT=tiles'
const TILE = `/tianditu/raster_w/wmts?${KVP}&TILEMATRIX=1&TILEROW=0&TILECOL=0`
const NO_HEADER = { headers: { 'x-access-token': '' } }

test('a tile equals that of the tile route, by tk, with case-insensitive names', async () => {
  const plain = await ask('/tiles/raster/current/1/0/0.png')
  const { token } = running
  for (const address of [
    `${TILE}&tk=${token}`,
    `${TILE.replace('LAYER', 'layer').replace('TILEROW', 'TileRow')}&TK=${token}`,
    `${TILE}&token=${token}`,
    // As published pages of Cesium and Leaflet send them.
    `${TILE.replace('&FORMAT=tiles', '')}&tk=${token}`,
    `${TILE.replace('STYLE=default', 'STYLE=default.jpg').replace('SERVICE=WMTS&', '')}&tk=${token}`,
    `${TILE.replace('STYLE=default&', '').replace('FORMAT=tiles', 'FORMAT=image/jpeg')}&tk=${token}`,
    `/tianditu/raster_w/DataServer?T=raster_w&x=0&y=0&l=1&tk=${token}`,
    `/tianditu/raster_w/DataServer?t=raster_w&X=0&Y=0&L=1&tk=${token}`,
  ]) {
    const tile = await ask(address, NO_HEADER)
    expect([tile.status, tile.body.equals(plain.body)], address).toEqual([200, true])
    expect({ ...tile.headers, date: '' }).toEqual({ ...plain.headers, date: '' })
  }
})

test.each(['/tiles/raster/0/0/0.png?', `/wmts?${KVP}&`, '/arcgis/rest/services?'])(
  'tk is not accepted as a token at %s',
  async (address) => {
    expect((await ask(`${address}tk=${running.token}`, NO_HEADER)).status).toBe(401)
  },
)

test('different tokens return 400, a missing one 401, a missing grant 403, and a missing layer 404, as exception reports', async () => {
  const { token, storedTokens } = running
  const other = createToken()
  const stored = { ...READER, id: 'other', basemaps: new Set(['other']) }
  storedTokens.set(tokenDigest(other).toString('hex'), stored)
  const status = async (address: string) => (await ask(address, NO_HEADER)).status
  expect(await status(`${TILE}&tk=${token}&token=${other}`)).toBe(400)
  expect(await status(`${TILE}&tk=${token}&TK=${other}`)).toBe(400)
  expect(await status(TILE)).toBe(401)
  expect(await status(`${TILE}&tk=`)).toBe(401)
  expect(await status(`${TILE}&tk=${other}`)).toBe(403)
  expect(await status(`/tianditu/nothing_w/wmts?tk=${other}`)).toBe(403)
  for (const absent of ['nothing_w', 'raster_c', 'vector_w', 'raster']) {
    const answer = await ask(`/tianditu/${absent}/wmts?tk=${token}`, NO_HEADER)
    expect([answer.status, answer.body.includes('<ExceptionReport')], absent).toEqual([404, true])
  }
  const wrong = await ask(`${TILE.replace('FORMAT=tiles', 'FORMAT=png')}&tk=${token}`, NO_HEADER)
  expect([wrong.status, wrong.body.includes('locator="Format"')]).toEqual([400, true])
  for (const [query, locator] of [
    ['T=raster_c&x=0&y=0&l=1', 'T'],
    ['T=raster_w&y=0&l=1', 'TileCol'],
    ['T=raster_w&x=0&y=0&l=19', 'TileMatrix'],
    ['', 'T'],
  ]) {
    const old = await ask(`/tianditu/raster_w/DataServer?${query}&tk=${token}`, NO_HEADER)
    expect([old.status, /locator="(\w+)"/.exec(old.body.toString())?.[1]], query).toEqual([400, locator])
  }
  const missing = await ask(`${TILE.replace('TILECOL=0', 'TILECOL=1')}&tk=${token}`, NO_HEADER)
  expect([missing.status, missing.headers['content-type']]).toEqual([404, 'application/xml; charset=utf-8'])
})

test('capabilities contain tk if the token came as tk', async () => {
  const { token } = running
  const { status, body } = await ask(`/tianditu/raster_w/wmts?service=WMTS&request=GetCapabilities&tk=${token}`, {
    headers: { 'x-access-token': '' },
  })
  expect([status, body.toString().match(/href="[^"]*"/g)]).toEqual([
    200,
    [0, 1].map(() => expect.stringContaining(`/tianditu/raster_w/wmts?tk=${token}&amp;"`)),
  ])
  const open = await ask('/tianditu/raster_w/wmts?request=GetCapabilities')
  expect(open.body.toString()).not.toContain(token)
})
