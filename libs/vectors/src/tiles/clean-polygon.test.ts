import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanPolygon, doubleArea } from './clean-polygon.js'
import type { Path } from './clip.js'

test('a simple ring stays, oriented as in vector tiles', () => {
  expect(cleanPolygon([[0, 0, 0, 10, 10, 10, 10, 0]])).toEqual([[[10, 0, 10, 10, 0, 10, 0, 0]]])
})

test('a bow tie becomes two triangles', () => {
  const polygons = cleanPolygon([[0, 0, 10, 10, 10, 0, 0, 10]])
  expect(polygons.map(([outer]) => doubleArea(outer as Path))).toEqual([50, 50])
})

test('a spike is removed', () => {
  const polygons = cleanPolygon([[0, 0, 10, 0, 20, 0, 10, 0, 10, 10, 0, 10]])
  expect(polygons).toHaveLength(1)
  expect(doubleArea(polygons[0]?.[0] as Path)).toBe(200)
})

test('a hole that touches the outer ring in two points divides the polygon', () => {
  const polygons = cleanPolygon([
    [0, 0, 5, 0, 10, 0, 10, 10, 5, 10, 0, 10],
    [5, 0, 7, 5, 5, 10, 3, 5],
  ])
  expect(polygons.map((rings) => rings.length)).toEqual([1, 1])
})

test('neighbours that share an edge become one polygon', () => {
  const polygons = cleanPolygon([
    [0, 0, 10, 0, 10, 10, 0, 10],
    [10, 0, 20, 0, 20, 10, 10, 10],
  ])
  expect(polygons).toHaveLength(1)
  expect(doubleArea(polygons[0]?.[0] as Path)).toBe(400)
})

test('a degenerate ring without area encloses nothing', () => {
  expect(cleanPolygon([[0, 0, 5, 5, 10, 10]])).toEqual([])
})

test('any ring becomes valid polygons of outer rings with holes', () => {
  const point = fc.tuple(fc.integer({ min: -8, max: 40 }), fc.integer({ min: -8, max: 40 }))
  const ring = fc.array(point, { minLength: 3, maxLength: 14 }).map((points) => points.flat())
  fc.assert(
    fc.property(fc.array(ring, { minLength: 1, maxLength: 3 }), (rings) => {
      for (const [outer, ...holes] of cleanPolygon(rings)) {
        expect(doubleArea(outer as Path)).toBeGreaterThan(0)
        for (const hole of holes) expect(doubleArea(hole)).toBeLessThan(0)
        for (const one of [outer as Path, ...holes]) expect(touchesItself(one)).toBe(false)
      }
    }),
    { numRuns: 500 },
  )
})

/** Compares every pair of edges. */
function touchesItself(ring: Path): boolean {
  const n = ring.length / 2
  const at = (i: number) => [ring[2 * (i % n)] as number, ring[2 * (i % n) + 1] as number] as const
  const side = (a: readonly number[], b: readonly number[], c: readonly number[]) =>
    Math.sign((b[0]! - a[0]!) * (c[1]! - a[1]!) - (b[1]! - a[1]!) * (c[0]! - a[0]!))
  const within = (a: readonly number[], b: readonly number[], c: readonly number[]) =>
    side(a, b, c) === 0 &&
    Math.min(a[0]!, b[0]!) <= c[0]! &&
    c[0]! <= Math.max(a[0]!, b[0]!) &&
    Math.min(a[1]!, b[1]!) <= c[1]! &&
    c[1]! <= Math.max(a[1]!, b[1]!)
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const [a, b, c, d] = [at(i), at(i + 1), at(j), at(j + 1)]
      if (j === i + 1) {
        if (within(a, b, d) || within(c, d, a)) return true
      } else if (i === 0 && j === n - 1) {
        if (within(c, d, b) || within(a, b, c)) return true
      } else if (
        (side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b)) ||
        within(a, b, c) ||
        within(a, b, d)
      )
        return true
    }
  }
  return false
}

test('a polygon that crosses itself in millions of places is drawn on a coarse grid', () => {
  const ring = Array.from({ length: 10_000 }, (_, i) => {
    const radius = 2000 * (i / 10_000)
    return [Math.round(2048 + Math.cos(i) * radius), Math.round(2048 + Math.sin(i) * radius)]
  })
  const polygons = cleanPolygon([ring.flat()])
  expect(polygons.length).toBeGreaterThan(0)
  for (const [outer, ...holes] of polygons) {
    expect(doubleArea(outer as Path)).toBeGreaterThan(0)
    for (const hole of holes) expect(doubleArea(hole)).toBeLessThan(0)
  }
})
