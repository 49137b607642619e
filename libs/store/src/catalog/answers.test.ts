import { adminBasemapSchema, basemapSchema } from '@gateway/contracts/basemap.js'
import { UNKNOWN_FACTS, vectorSchema } from '@gateway/contracts/vector.js'
import type { StoredVersion } from '@gateway/store/basemaps.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test } from 'vitest'
import { toAdminBasemap, toBasemap } from './basemap.js'
import { toAdminVector, toVector } from './vector.js'

const at = new Date('2026-11-20T10:00:00Z')
const version = (label: string, over: Partial<StoredVersion> = {}) =>
  storedVersion(label, { bounds: [-180, -85, 180, 85], path: `/data/maps/w/${label}`, scannedAt: at, ...over })
const basemap = storedBasemap(
  'wörld map',
  [version('v1'), version('v2', { format: 'jpg', extension: 'jpeg' }), version('v3', { available: false })],
  { name: 'World', defaultVersion: 'v2', tileBaseUrl: 'http://tiles.example/base', createdAt: at, updatedAt: at },
)
const vector = storedVector('a b', {
  name: 'A',
  relativePath: 'x/a b.geojson',
  path: '/data/vectors/x/a b.geojson',
  size: 12,
  modifiedAt: at,
})

test('url_template has the URL of the scan, the encoded code, and the format of the default version', () => {
  expect(toBasemap(basemap).url_template).toBe(
    'http://tiles.example/base/tiles/w%C3%B6rld%20map/current/{z}/{x}/{y}.jpg',
  )
})

test('without an available version url_template keeps the format of the newest version', () => {
  const gone = { ...basemap, defaultVersion: null, versions: [version('v1'), version('v9', { format: 'webp' })] }
  expect(toBasemap(gone)).toMatchObject({ default_version: null, url_template: expect.stringMatching(/\.webp$/) })
})

test('the catalog contains no path on disk, the admin list does', () => {
  expect(
    basemapSchema
      .strict()
      .parse(toBasemap(basemap))
      .versions.map((v) => v.version),
  ).toEqual(['v1', 'v2', 'v3'])
  expect(JSON.stringify(toBasemap(basemap))).not.toContain('/data/')
  expect(adminBasemapSchema.parse(toAdminBasemap(basemap)).versions[0]?.path).toBe('/data/maps/w/v1')
  expect(JSON.stringify(toVector(vector, ''))).not.toContain('/data/')
  expect(toAdminVector(vector, '').path).toBe('/data/vectors/x/a b.geojson')
})

test('download_url is built from the public URL, with the code encoded', () => {
  const resource = vectorSchema.parse(toVector(vector, 'https://dl.example'))
  expect(resource.download_url).toBe('https://dl.example/vectors/a%20b/download')
})

test('unknown facts of a vector are null', () => {
  expect(toVector(vector, '')).toMatchObject(UNKNOWN_FACTS)
  const facts = { ...UNKNOWN_FACTS, crs: 'EPSG:4490', feature_count: 3 }
  expect(vectorSchema.parse(toVector({ ...vector, facts }, ''))).toMatchObject(facts)
})

test('an encoding set by an operator is marked as such, and the names of fields are read in it', () => {
  const fields = [{ name: '\u00b5\u00c0\u00c2\u00b7', type: 'string' as const }]
  const facts = { ...UNKNOWN_FACTS, encoding: 'Big5', encoding_source: 'cpg' as const, raw_fields: fields }
  const told = toVector({ ...vector, facts, setEncoding: 'GBK' }, '')
  expect(told).toMatchObject({
    encoding: 'GBK',
    encoding_source: 'operator',
    fields: [{ name: '道路', type: 'string' }],
  })
  expect(told).not.toHaveProperty('raw_fields')
  expect(toVector({ ...vector, setEncoding: 'GBK' }, '')).toMatchObject({ encoding: 'GBK', fields: null })
})
