import { UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterVectors, foundVector } from '../testing/catalog.js'
import type { FoundVector } from '../walk/found.js'
import { diffVectors } from './diff-vectors.js'

/** Paths that clash when reduced, in folders and scripts of all kinds. */
const path = fc.constantFrom(
  'a b.geojson',
  'a-b.json',
  'a/b.geojson',
  'a.b.json',
  'a.json',
  'a.geojson',
  '世界.json',
  '地图.json',
)
const found = fc.uniqueArray(
  fc
    .tuple(path, fc.constantFrom('f1', 'f2'))
    .map(([relativePath, fingerprint]) => foundVector(relativePath, fingerprint)),
  { selector: (vector: FoundVector) => vector.relativePath },
)
/** Scans of two sources, in any order. */
const history = fc.array(fc.tuple(fc.constantFrom('one', 'two'), found), { maxLength: 6 })

function catalogAfter(scans: readonly (readonly [string, readonly FoundVector[]])[]): StoredVector[] {
  return scans.reduce<StoredVector[]>(
    (known, [source, one]) => afterVectors(known, diffVectors(one, known, source)),
    [],
  )
}

const ownAvailable = (known: readonly StoredVector[], source: string) =>
  known
    .filter((v) => v.sourceCode === source && v.available)
    .map((v) => v.relativePath)
    .sort()

describe('for any known and found vectors', () => {
  test('a second scan of the same finds nothing to change', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter([...before, ['one', now]])
        const missing = known.filter(({ sourceCode }) => sourceCode === 'one').length - now.length
        expect(diffVectors(now, known, 'one')).toEqual({ upserts: [], lostCodes: [], added: 0, updated: 0, missing })
      }),
    )
  })

  test('exactly the found vectors are available afterwards, and other sources keep theirs', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter(before)
        const later = afterVectors(known, diffVectors(now, known, 'one'))
        expect(ownAvailable(later, 'one')).toEqual(now.map((v) => v.relativePath).sort())
        expect(later.filter((v) => v.sourceCode === 'two')).toEqual(known.filter((v) => v.sourceCode === 'two'))
      }),
    )
  })

  test('a path keeps its code over all later scans, and no two paths share one', () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const early = catalogAfter(before)
        const late = catalogAfter([...before, ...after])
        for (const { code, sourceCode, relativePath } of early) {
          expect(late.find((v) => v.code === code)).toMatchObject({ sourceCode, relativePath })
        }
        expect(late).toHaveLength(new Set(late.map((v) => `${v.sourceCode}\0${v.relativePath}`)).size)
      }),
    )
  })

  test('the order of known and found vectors does not matter', () => {
    fc.assert(
      fc.property(history, found, (before, now) => {
        const known = catalogAfter(before)
        const a = afterVectors(known, diffVectors(now, known, 'one'))
        const b = afterVectors(known, diffVectors([...now].reverse(), [...known].reverse(), 'one'))
        const byCode = (x: StoredVector, y: StoredVector) => (x.code < y.code ? -1 : 1)
        expect(b.sort(byCode)).toEqual(a.sort(byCode))
      }),
    )
  })
})

test('only a rewritten or a returned file is updated', () => {
  const known = catalogAfter([['one', [foundVector('a.json'), foundVector('b.json')]]])
  const changed = diffVectors([foundVector('a.json', 'other')], known, 'one')
  expect(changed).toMatchObject({ added: 0, updated: 1, missing: 1, lostCodes: ['b'] })
  const still = diffVectors([foundVector('a.json', 'other')], afterVectors(known, changed), 'one')
  expect(still).toMatchObject({ upserts: [], lostCodes: [], missing: 1 })
  const back = diffVectors([foundVector('a.json', 'other'), foundVector('b.json')], afterVectors(known, changed), 'one')
  expect(back).toMatchObject({ added: 0, updated: 1, missing: 0, upserts: [{ code: 'b' }] })
})

test('an unchanged file whose facts were read is updated with them', () => {
  const known = catalogAfter([['one', [foundVector('a.json')]]])
  const facts = { ...UNKNOWN_FACTS, feature_count: 1 }
  expect(diffVectors([{ ...foundVector('a.json'), facts }], known, 'one')).toMatchObject({ upserts: [{ facts }] })
})

test('a code from an earlier release stays, even if the path would get another one now', () => {
  const old = { ...(catalogAfter([['one', [foundVector('a.json')]]])[0] as StoredVector), code: 'vector' }
  const known = [{ ...old, relativePath: '世界.json', path: '/elsewhere' }]
  const changed = diffVectors([foundVector('世界.json'), foundVector('世/界.json')], known, 'one')
  expect(changed.upserts.map(({ code }) => code)).toEqual(['vector', 'shi-jie'])
})
