import type { NewVersion, StoredBasemap } from '@gateway/store/basemaps.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterBasemaps, emptyBasemap, foundBasemaps, foundVersion } from '../testing/catalog.js'
import type { FoundBasemaps } from '../walk/found.js'
import { diffBasemaps } from './diff-basemaps.js'

const SCAN = { sourceCode: 'maps', tileBaseUrl: 'http://tiles.example', startedAt: new Date(1000) }
const AT = new Date(500)

/** Results of scans over time: few codes, labels and fingerprints, so that versions change, disappear and return. */
const label = fc.constantFrom('v1', 'v2', 'v10', 'default')
const versions = fc.uniqueArray(
  fc.tuple(label, fc.constantFrom('f1', 'f2')).map(([version, fingerprint]) => foundVersion(version, fingerprint)),
  { selector: (version: NewVersion) => version.version, maxLength: 4 },
)
const found = fc.dictionary(fc.constantFrom('a', 'b', 'c'), versions, { maxKeys: 3 }).map(foundBasemaps)
const history = fc.array(found, { maxLength: 5 })

function catalogAfter(scans: readonly FoundBasemaps[], start: readonly StoredBasemap[] = []): StoredBasemap[] {
  return scans.reduce<StoredBasemap[]>((known, one) => scanned(known, one), [...start])
}

function scanned(known: readonly StoredBasemap[], one: FoundBasemaps): StoredBasemap[] {
  return afterBasemaps(known, diffBasemaps(one, known, SCAN), { ...SCAN, at: AT })
}

function allLabels(known: readonly StoredBasemap[], wanted = (_: { available: boolean }) => true): string[] {
  return known.flatMap(({ code, versions }) => versions.filter(wanted).map((v) => `${code}/${v.version}`)).sort()
}

function availableLabels(known: readonly StoredBasemap[]): string[] {
  return allLabels(known, ({ available }) => available)
}

function foundLabels({ basemaps }: FoundBasemaps): string[] {
  return basemaps.flatMap(({ code, versions }) => versions.map((v) => `${code}/${v.version}`)).sort()
}

describe('for any known and found versions', () => {
  test('a second scan of the same finds nothing to change', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter([...before, now])
        const missing = allLabels(known).length - foundLabels(now).length
        expect(diffBasemaps(now, known, SCAN)).toMatchObject({ changes: [], added: 0, updated: 0, missing })
      }),
    )
  })

  test('exactly the found versions are available afterwards', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        expect(availableLabels(catalogAfter([...before, now]))).toEqual(foundLabels(now))
      }),
    )
  })

  test('nothing is ever deleted', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter(before)
        const later = scanned(known, now)
        for (const { code, versions } of known) {
          const labels = later.find((basemap) => basemap.code === code)?.versions.map((v) => v.version)
          expect(labels).toEqual(expect.arrayContaining(versions.map((v) => v.version)))
        }
      }),
    )
  })

  test('a version that disappears and returns is the same as before', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter([...before, now])
        const nothing = foundBasemaps({})
        expect(availableLabels(scanned(known, nothing))).toEqual([])
        expect(sortedCatalog(catalogAfter([nothing, now], known))).toEqual(sortedCatalog(known))
      }),
    )
  })

  test('the order of known and found versions does not matter', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter(before)
        const reversed: FoundBasemaps = {
          ...now,
          basemaps: [...now.basemaps]
            .reverse()
            .map((basemap) => ({ ...basemap, versions: [...basemap.versions].reverse() })),
        }
        const otherWay = [...known]
          .reverse()
          .map((basemap) => ({ ...basemap, versions: [...basemap.versions].reverse() }))
        const a = diffBasemaps(now, known, SCAN)
        const b = diffBasemaps(reversed, otherWay, SCAN)
        expect(b.changes).toEqual(a.changes)
        expect({ ...b, changes: 0 }).toEqual({ ...a, changes: 0 })
      }),
    )
  })

  test('the counts are those of the changed versions, and of all that were not found', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter(before)
        const { changes, added, updated, missing } = diffBasemaps(now, known, SCAN)
        expect(added + updated).toBe(changes.flatMap((change) => change.versions).length)
        expect(missing).toBe(allLabels(known).filter((one) => !foundLabels(now).includes(one)).length)
        expect(changes.flatMap((change) => change.lost.map((version) => `${change.code}/${version}`)).sort()).toEqual(
          availableLabels(known).filter((one) => !foundLabels(now).includes(one)),
        )
      }),
    )
  })

  test('basemaps of other sources are not changed', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const others = catalogAfter(before).map((basemap) => ({ ...basemap, sourceCode: 'others' }))
        const diff = diffBasemaps(now, others, SCAN)
        const theirs = new Set(others.map((basemap) => basemap.code))
        const clashing = now.basemaps.filter(({ code }) => theirs.has(code))
        expect(diff.changes.filter(({ code }) => theirs.has(code))).toEqual([])
        expect(diff.warnings).toHaveLength(clashing.length)
      }),
    )
  })
})

function sortedCatalog(known: readonly StoredBasemap[]) {
  return known
    .map((basemap) => ({
      ...basemap,
      versions: [...basemap.versions].sort((a, b) => (a.version < b.version ? -1 : 1)),
    }))
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}

test('a changed public URL updates the found basemaps, and counts no version', () => {
  const now = foundBasemaps({ a: [foundVersion('v1')] })
  const known = catalogAfter([now])
  const diff = diffBasemaps(now, known, { ...SCAN, tileBaseUrl: 'http://elsewhere.example' })
  expect(diff).toMatchObject({ added: 0, updated: 0, changes: [{ code: 'a', upsert: true, versions: [] }] })
})

test('a version registered after the start of the scan stays unchanged, found or not', () => {
  const late = {
    ...foundVersion('v1', 'new'),
    revision: 1,
    available: true,
    withdrawn: false,
    scannedAt: new Date(2000),
    overrides: {},
    scanned: null,
  }
  const known = [{ ...emptyBasemap('a', 'maps'), tileBaseUrl: SCAN.tileBaseUrl, versions: [late] }]
  expect(diffBasemaps(foundBasemaps({}), known, SCAN).changes).toEqual([])
  expect(diffBasemaps(foundBasemaps({ a: [foundVersion('v1', 'old')] }), known, SCAN).changes).toEqual([])
})

test('an unreadable version stays unchanged', () => {
  const known = catalogAfter([foundBasemaps({ a: [foundVersion('v1'), foundVersion('v2')] })])
  const now: FoundBasemaps = { ...foundBasemaps({}), uncertain: [{ code: 'a', version: 'v1' }] }
  expect(diffBasemaps(now, known, SCAN).changes).toMatchObject([{ lost: ['v2'] }])
})

test('the key order of JSON objects in the store, and the sign of zero, do not count as changes', () => {
  const layers = [{ id: 'roads', description: 'd', fields: { b: 'String', a: 'Number' } }]
  const now = foundBasemaps({ a: [foundVersion('v1', 'f', { vectorLayers: layers, bounds: [-0, -85, 10, 85] })] })
  const stored = [{ fields: { a: 'Number', b: 'String' }, id: 'roads', description: 'd' }]
  const known = catalogAfter([now]).map((basemap) => ({
    ...basemap,
    versions: basemap.versions.map((v) => ({ ...v, vectorLayers: stored, bounds: [0, -85, 10, 85] as const as never })),
  }))
  expect(diffBasemaps(now, known, SCAN).changes).toEqual([])
})

test('a name that no tile set declares stays unchanged', () => {
  const named: FoundBasemaps = {
    ...foundBasemaps({}),
    basemaps: [{ code: 'a', name: 'World', versions: [foundVersion('v1')] }],
  }
  const known = catalogAfter([named, foundBasemaps({ a: [foundVersion('v1')] })])
  expect(known).toMatchObject([{ name: 'World' }])
})
