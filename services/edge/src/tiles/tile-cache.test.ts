import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Catalog, type CatalogBasemap, type CatalogVersion, EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { CachedTile, RECHECK_MS, type TileAnswer, TileCache } from './tile-cache.js'

const NOTHING = { codes: [], rows: [] }
const BLOCK = { name: 'Content-Type', value: 'image/png' }
const ANSWER: TileAnswer = { etag: '"x"', modifiedMs: 0, gzip: false, found: BLOCK, notModified: BLOCK }
const VERSIONS = [storedVersion('v1'), storedVersion('v2')]
const alps = (more: Parameters<typeof storedBasemap>[2] = {}, versions = VERSIONS) =>
  storedBasemap('alps', versions, { defaultVersion: 'v1', ...more })
const rhine = storedBasemap('rhine', VERSIONS)

let cache: TileCache
let catalog: Catalog
beforeEach(() => {
  catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [alps(), rhine] }, NOTHING)
  cache = new TileCache(1_000_000)
  for (const code of ['alps', 'rhine']) cache.keep(code, catalog, tileOf(code))
})

function tileOf(code: string): CachedTile {
  const basemap = catalog.basemaps.get(code) as CatalogBasemap
  const [version] = basemap.versions.values()
  return new CachedTile(Buffer.from(code), ANSWER, { basemap, version: version as CatalogVersion }, 0)
}

const change = (...rows: ReturnType<typeof storedBasemap>[]) => nextCatalog(catalog, { codes: ['alps'], rows }, NOTHING)
const kept = (now: Catalog) => ['alps', 'rhine'].filter((code) => cache.get(code, now, 1) !== undefined)

describe('a catalog change', () => {
  test.each([
    ['switches the default version', () => change(alps({ defaultVersion: 'v2' }))],
    ['withdraws a version', () => change(alps({}, [storedVersion('v1'), storedVersion('v2', { withdrawn: true })]))],
    ['finds a version unavailable', () => change(alps({}, [storedVersion('v1', { available: false })]))],
    ['increments a revision', () => change(alps({}, [storedVersion('v1', { revision: 2 }), storedVersion('v2')]))],
    ['adds a version', () => change(alps({}, [...VERSIONS, storedVersion('v3')]))],
    ['disables the source', () => change(alps({ sourceEnabled: false }))],
    ['withdraws the basemap', () => change(alps({ withdrawn: true }))],
    ['removes the basemap', () => change()],
    ['moves the source', () => change(alps({ sourcePath: '/elsewhere' }))],
  ])('that %s drops only the tiles of that basemap', (_name, next) => {
    const before = cache.bytes
    const now = next()
    cache.follow(now)
    // Its memory is freed at once, not only at the next request.
    expect(cache.bytes).toBeLessThan(before * 0.6)
    expect(kept(now)).toEqual(['rhine'])
  })

  test.each([
    [
      'adds another basemap',
      () => nextCatalog(catalog, { codes: ['etna'], rows: [storedBasemap('etna', VERSIONS)] }, NOTHING),
    ],
    ['renames the basemap', () => change(alps({ name: 'Alps' }))],
    ['concerns only vectors', () => nextCatalog(catalog, NOTHING, { codes: null, rows: [] })],
    ['reads everything again', () => nextCatalog(catalog, { codes: null, rows: [alps(), rhine] }, NOTHING)],
  ])('that %s drops nothing', (_name, next) => {
    expect(kept(next())).toEqual(['alps', 'rhine'])
  })

  test('that withdraws a version drops its tiles even if the cache sees only its return', () => {
    catalog = change(alps({}, [storedVersion('v1'), storedVersion('v2', { withdrawn: true })]))
    expect(kept(change(alps()))).toEqual(['rhine'])
  })
})

test('a tile is kept again after its basemap has changed', () => {
  catalog = change(alps({ defaultVersion: 'v2' }))
  cache.keep('alps', catalog, tileOf('alps'))
  expect(kept(catalog)).toEqual(['alps', 'rhine'])
})

test('a tile whose file was not checked for too long is not served', () => {
  expect(cache.get('alps', catalog, RECHECK_MS - 1)).toBeDefined()
  expect(cache.get('alps', catalog, RECHECK_MS)).toBeUndefined()
})

test('tiles use no more than the capacity, which may change', () => {
  cache.limitTo(10_000)
  for (let i = 0; i < 100; i++) cache.keep(String(i), catalog, tileOf('alps'))
  expect(cache.capacityBytes).toBe(10_000)
  expect(cache.bytes).toBeGreaterThan(5_000)
  expect(cache.bytes).toBeLessThanOrEqual(10_000)
})
