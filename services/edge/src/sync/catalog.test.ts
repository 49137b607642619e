import { UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test } from 'vitest'
import { type Catalog, EMPTY_CATALOG, nextCatalog } from './catalog.js'

const NOTHING = { codes: [], rows: [] }
const idOf = (catalog: Catalog, version: string) => catalog.basemaps.get('world')?.versions.get(version)?.contentId

test('the default version is found under its label and as current, and unavailable ones are not found', () => {
  const world = storedBasemap(
    'world',
    [storedVersion('v1'), storedVersion('v2'), storedVersion('v3', { available: false })],
    {
      defaultVersion: 'v1',
    },
  )
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [world] }, NOTHING)
  const versions = catalog.basemaps.get('world')?.versions
  expect(versions?.get('current')).toBe(versions?.get('v1'))
  expect([...(versions?.keys() ?? [])].sort()).toEqual(['current', 'v1', 'v2'])
})

test('content that did not change keeps its identity over reloads, and changed content gets another', () => {
  const rows = [storedBasemap('world', [storedVersion('v1'), storedVersion('v2')])]
  const first = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, NOTHING)
  const changed = [storedBasemap('world', [storedVersion('v1'), storedVersion('v2', { fingerprint: 'other' })])]
  const second = nextCatalog(first, { codes: ['world'], rows: changed }, NOTHING)
  expect(idOf(second, 'v1')).toBe(idOf(first, 'v1'))
  expect(idOf(second, 'v2')).not.toBe(idOf(first, 'v2'))
})

test('withdrawn versions, and all of a disabled source, are not found', () => {
  const rows = [
    storedBasemap('gone', [storedVersion('v1')], { withdrawn: true }),
    storedBasemap('off', [storedVersion('v1')], { sourceEnabled: false }),
    storedBasemap('world', [storedVersion('v1'), storedVersion('v2', { withdrawn: true })], { defaultVersion: 'v1' }),
  ]
  const vectors = [storedVector('gone', { withdrawn: true }), storedVector('off', { sourceEnabled: false })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: vectors })
  expect([...catalog.basemaps.keys()]).toEqual(['world'])
  expect([...(catalog.basemaps.get('world')?.versions.keys() ?? [])].sort()).toEqual(['current', 'v1'])
  expect([...catalog.vectors.values()].map(({ served }) => served)).toEqual([false, false])
})

test('among several sources with one relative path a served one is found first', () => {
  const rows = [
    storedVector('a', { relativePath: 'roads.geojson', sourceEnabled: false }),
    storedVector('b', { relativePath: 'roads.geojson' }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, NOTHING, { codes: null, rows })
  expect(catalog.vectorsByPath.get('roads.geojson')?.map((v) => v.stored.code)).toEqual(['b', 'a'])
})

test('another revision is different content, even if all else is equal', () => {
  const version = (revision: number) => [storedBasemap('world', [storedVersion('v1', { revision })])]
  const first = nextCatalog(EMPTY_CATALOG, { codes: null, rows: version(1) }, NOTHING)
  const second = nextCatalog(first, { codes: ['world'], rows: version(2) }, NOTHING)
  expect(idOf(second, 'v1')).not.toBe(idOf(first, 'v1'))
})

test('a code that was requested and not found is removed, and all others stay', () => {
  const rows = [storedBasemap('a', [storedVersion('v1')]), storedBasemap('b', [storedVersion('v1')])]
  const before = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, NOTHING)
  const after = nextCatalog(before, { codes: ['a'], rows: [] }, NOTHING)
  expect([...after.basemaps.keys()]).toEqual(['b'])
  expect([...before.basemaps.keys()]).toEqual(['a', 'b'])
})

test('one relative path may belong to several sources, in the order of their codes', () => {
  const rows = [
    storedVector('roads-2', { relativePath: 'x/roads.geojson' }),
    storedVector('roads', { relativePath: 'x/roads.geojson' }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, NOTHING, { codes: null, rows })
  expect(catalog.vectorsByPath.get('x/roads.geojson')?.map((v) => v.stored.code)).toEqual(['roads', 'roads-2'])
  expect(catalog.vectors.get('roads')?.wanted).toEqual({
    kind: 'vector',
    names: ['roads', 'x/roads.geojson', 'roads.geojson'],
  })
})

test('only the encoding of a vector is kept as an object, and one that was set has priority', () => {
  const facts = { ...UNKNOWN_FACTS, encoding: 'GBK', fields: [{ name: 'a', type: 'string' as const }] }
  const rows = [
    storedVector('told', { facts }),
    storedVector('untold'),
    storedVector('set', { facts, setEncoding: 'Big5' }),
  ]
  const { vectors } = nextCatalog(EMPTY_CATALOG, NOTHING, { codes: null, rows })
  expect([...vectors.values()].map(({ encoding }) => encoding)).toEqual([
    { name: 'GBK', isSet: false },
    null,
    { name: 'Big5', isSet: true },
  ])
  expect(vectors.get('told')?.stored).not.toHaveProperty('facts')
})
