import type { Refusal } from '@gateway/contracts/errors.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER } from '../testing/running-edge.js'
import { BASEMAPS, type CatalogAnswer, catalogEntry, catalogList, VECTORS } from './answers.js'

const BASE = { tilePublicBaseUrl: 'http://vectors.example', vectorPublicBaseUrl: 'http://vectors.example' }
const NOTHING = { codes: [], rows: [] }
const FACTS = {
  crs: 'EPSG:4326',
  bounds: null,
  geometry_type: 'Point' as const,
  feature_count: 3,
  fields: null,
  encoding: 'UTF-8',
  encoding_source: 'format' as const,
}

const catalog = nextCatalog(
  EMPTY_CATALOG,
  {
    codes: null,
    rows: [
      storedBasemap('world', [storedVersion('v1'), storedVersion('v2', { withdrawn: true })], { name: 'The World' }),
      storedBasemap('sea', []),
      storedBasemap('withdrawn', [storedVersion('v1')], { withdrawn: true }),
    ],
  },
  {
    codes: null,
    rows: [
      storedVector('roads', { relativePath: 'x/roads.geojson', facts: FACTS }),
      storedVector('off', { sourceEnabled: false }),
    ],
  },
)

const json = (answered: CatalogAnswer | Refusal) => {
  if ('ok' in answered) throw new Error(answered.message)
  const text = answered.text()
  return JSON.parse(typeof text === 'string' ? text : [...text].join(''))
}
const codes = (query: string, token = READER) =>
  json(catalogList(BASEMAPS, catalog, token, query, BASE)).items.map(({ code }: { code: string }) => code)
const granted = (...basemaps: string[]) => ({ ...READER, basemaps: new Set(basemaps) })

test('a list contains granted and offered entries, by code, without withdrawn versions', () => {
  expect(codes('')).toEqual(['sea', 'world'])
  expect(codes('', granted('world', 'withdrawn', 'gone'))).toEqual(['world'])
  expect(codes('', granted())).toEqual([])
  const [world] = json(catalogList(BASEMAPS, catalog, granted('world'), '', BASE)).items
  expect(world).toMatchObject({ name: 'The World', source_code: 'source', versions: [{ version: 'v1', revision: 1 }] })
  expect(JSON.stringify(world)).not.toContain('/maps')
})

test('a list is searched, filtered, sorted and paged as by the control plane, for any form of the token', () => {
  expect(codes('q=WORL&token=bmp_x')).toEqual(['world'])
  expect(codes('sort=-code&access_token=bmp_x')).toEqual(['world', 'sea'])
  expect(codes('limit=1&offset=1')).toEqual(['world'])
  expect(codes('source_code=other')).toEqual([])
  expect(json(catalogList(BASEMAPS, catalog, READER, 'limit=1', BASE)).total).toBe(2)
})

test.each([
  ['colour=red', 'query.colour: unknown parameter'],
  ['limit=0', 'query.limit: '],
  ['limit=1&limit=2', 'query.limit: '],
  ['sort=path', 'query.sort: '],
  ['__proto__=x', 'query.__proto__: unknown parameter'],
])('the refusal of the query %s names the parameter', (query, words) => {
  expect(catalogList(BASEMAPS, catalog, READER, query, BASE)).toMatchObject({
    code: 'invalid_parameters',
    message: expect.stringContaining(words),
  })
})

test('the entry of a vector has the properties that a scan has read', () => {
  expect(json(catalogList(VECTORS, catalog, READER, 'kind=geojson', BASE)).items).toMatchObject([
    {
      code: 'roads',
      relative_path: 'x/roads.geojson',
      download_url: `${BASE.vectorPublicBaseUrl}/vectors/roads/download`,
      ...FACTS,
    },
  ])
})

test('an entry is found by its code, unless it is not offered', () => {
  expect(json(catalogEntry(BASEMAPS, catalog, 'sea', BASE, null))).toMatchObject({ code: 'sea', default_version: null })
  for (const code of ['withdrawn', 'nowhere', '__proto__', '']) {
    expect(catalogEntry(BASEMAPS, catalog, code, BASE, null)).toMatchObject({ code: 'not_found' })
  }
  expect(catalogEntry(VECTORS, catalog, 'off', BASE, null)).toMatchObject({ code: 'not_found' })
})

test('tokens of equal grants share a response, others never, and each snapshot has its own responses', () => {
  const list = (token = READER, of = catalog) => {
    const answered = catalogList(BASEMAPS, of, token, '', BASE)
    if ('ok' in answered) throw new Error(answered.message)
    return answered
  }
  expect(list(granted('sea', 'world')).key).toBe(list(granted('world', 'sea')).key)
  expect(list(granted('sea')).key).not.toBe(list(granted('world')).key)
  expect(list(granted('sea,world')).key).not.toBe(list(granted('sea', 'world')).key)
  const next = nextCatalog(catalog, { codes: ['sea'], rows: [storedBasemap('sea', [], { name: 'The Sea' })] }, NOTHING)
  expect(list(READER, next).of).not.toBe(list().of)
  expect(json(list(READER, next)).items.map(({ name }: { name: string }) => name)).toEqual(['The Sea', 'The World'])
  expect(codes('')).toEqual(['sea', 'world'])
})
