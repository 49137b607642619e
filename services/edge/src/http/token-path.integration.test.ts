import { createToken } from '@gateway/core/access/token-format.js'
import { expect, test } from 'vitest'
import { ask, running, useServingEdge } from '../testing/serving-edge.js'
import { tokenInQuery } from './token-path.js'

useServingEdge()

const NO_HEADER = { headers: { 'x-access-token': '' } }

test('a download with the token in its path equals the one with the token in a header', async () => {
  const { token } = running
  for (const path of ['/geojson/points.geojson', '/vectors/points/download', '/vectors/points.geojson']) {
    const plain = await ask(path)
    expect(plain.status, path).toBe(200)
    for (const method of ['GET', 'HEAD']) {
      const found = await ask(`/t/${token}${path}`, { ...NO_HEADER, method })
      expect([found.status, found.headers.etag, found.headers['content-length']], `${method} ${path}`).toEqual([
        ...[200, plain.headers.etag, plain.headers['content-length']],
      ])
    }
    expect((await ask(`/t/${token}${path}`, { headers: { 'x-access-token': '', range: 'bytes=0-3' } })).status).toBe(
      206,
    )
    expect((await ask(`/t/${createToken()}${path}`, NO_HEADER)).status).toBe(401)
    expect((await ask(`/t/nothing${path}`, NO_HEADER)).status).toBe(401)
    expect((await ask(`/t/${token}${path}?token=${createToken()}`, NO_HEADER)).status).toBe(400)
    const asked = { headers: { 'x-access-token': '', 'x-original-uri': `/t/${token}${path}` } }
    expect((await ask('/api/v1/forward-auth', asked)).status).toBe(200)
  }
})

test('only downloads have the form, and other methods are named as for other addresses', async () => {
  const { token } = running
  for (const path of ['/tiles/raster/0/0/0.png', '/ogc', '/api/v1/catalog/basemaps', ''])
    expect((await ask(`/t/${token}${path}`, NO_HEADER)).status, path).toBe(404)
  const other = await ask(`/t/${token}/geojson/points.geojson`, { ...NO_HEADER, method: 'DELETE' })
  expect([other.status, other.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  expect((await ask(`/t/${token}/geojson/points.geojson`, { ...NO_HEADER, method: 'OPTIONS' })).status).toBe(204)
})

test.each([
  ['/t/bmp_x/vectors/a.zip', '', '/vectors/a.zip', 'token=bmp_x'],
  ['/t/bmp_x/vectors/a.zip', 'crs=3857', '/vectors/a.zip', 'crs=3857&token=bmp_x'],
  ['/t/a&token=b/shp/a.shp', '', '/shp/a.shp', 'token=a%26token%3Db'],
  ['/t/bmp_x', '', '/', 'token=bmp_x'],
  ['/t//shp/a', '', '/shp/a', 'token='],
  ['/tiles/a', 'x=1', '/tiles/a', 'x=1'],
])('%s?%s is %s?%s', (path, query, plain, withToken) => {
  expect(tokenInQuery({ path, query })).toEqual({ path: plain, query: withToken })
})
