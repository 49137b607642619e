import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asLongLat, footprintOf, type GeoTransform, locatedBy, type Point, samplePoints, turnsOf } from './footprint.js'
import { HALF_WORLD, longitudeOf } from './mercator.js'
import { TILE_SPACES } from './space.js'

const MERCATOR = TILE_SPACES.WebMercatorQuad

const NO_POLES = { north: false, south: false }

function geographic(west: number, south: number, east: number, north: number) {
  const transform: GeoTransform = [west, (east - west) / 100, 0, north, 0, (south - north) / 100]
  return footprintOf(
    'geographic',
    100,
    100,
    asLongLat('geographic', samplePoints(100, 100, locatedBy(transform))),
    NO_POLES,
    MERCATOR,
  )
}

/** West and east of all placements, in degrees, and the shift of each. */
function spans(footprint: ReturnType<typeof footprintOf>): number[][] {
  return footprint!.placements.map(({ box, shift }) => [
    Math.round(longitudeOf(box.west)),
    Math.round(longitudeOf(box.east)),
    shift,
  ])
}

describe('geographic sources', () => {
  it('lie at their corners', () => expect(spans(geographic(-10, 0, 20, 10))).toEqual([[-10, 20, 0]]))
  it('across the antimeridian lie at both edges of the map', () => {
    expect(spans(geographic(170, 0, 190, 10))).toEqual([
      [-180, -170, -360],
      [170, 180, 0],
    ])
  })
  it('from 0 to 360 are shifted for the western half', () => {
    expect(spans(geographic(0, -80, 360, 80))).toEqual([
      [-180, 0, -360],
      [0, 180, 0],
    ])
  })
  it('with an extra turn are shifted back', () => expect(spans(geographic(365, 0, 370, 5))).toEqual([[5, 10, -360]]))
  it('of the whole world have one placement, despite rounding errors', () => {
    expect(spans(geographic(-180.0000000001, -90, 180.0000000001, 90))).toEqual([[-180, 180, 0]])
  })
  it('beyond the edge of the map have no placement', () => expect(geographic(0, 86, 10, 89)).toBeNull())
})

describe('other sources', () => {
  /** Samples of a raster as longitude and latitude by a made-up projection. */
  const projected = (place: (x: number, y: number) => Point) =>
    samplePoints(20, 20, locatedBy([0, 1, 0, 0, 0, 1])).map(([x, y]) => place(x, y))

  it('that PROJ folds at the antimeridian are unfolded', () => {
    const points = projected((x, y) => [x < 10 ? 175 + x / 2 : x / 2 - 185, y])
    const both = footprintOf('other', 20, 20, points, NO_POLES, MERCATOR)
    expect(spans(both)).toEqual([
      [-180, -175, 0],
      [175, 180, 0],
    ])
  })

  it('around a pole cover all longitudes up to the edge of the map', () => {
    const points = projected((x, y) => [
      (Math.atan2(x - 10.3, y - 10.3) * 180) / Math.PI,
      90 - Math.hypot(x - 10.3, y - 10.3),
    ])
    const cap = footprintOf('other', 20, 20, points, { north: true, south: false }, MERCATOR)
    expect(spans(cap)).toEqual([[-180, 180, 0]])
    expect(cap!.placements[0]!.box.north).toBeCloseTo(HALF_WORLD, 0)
  })

  it('with corners off the earth are placed by the rest', () => {
    const points = projected((x, y) => (Math.hypot(x - 10, y - 10) > 11 ? [Number.NaN, Number.NaN] : [x, y]))
    const [west, east] = spans(footprintOf('other', 20, 20, points, NO_POLES, MERCATOR))[0]!
    expect(west).toBeLessThanOrEqual(0)
    expect(east).toBeGreaterThanOrEqual(20)
  })

  it('that cannot be projected at all have no placement', () => {
    expect(
      footprintOf(
        'other',
        20,
        20,
        projected(() => [Number.NaN, Number.NaN]),
        NO_POLES,
        MERCATOR,
      ),
    ).toBeNull()
  })
})

it('placements lie on the map, and are together as wide as the source', () => {
  const longitude = fc.double({ min: -300, max: 300, noNaN: true })
  const width = fc.double({ min: 0.001, max: 360, noNaN: true })
  fc.assert(
    fc.property(longitude, width, (west, span) => {
      const { placements } = geographic(west, -10, west + span, 10)!
      let total = 0
      for (const { box } of placements) {
        expect(box.west).toBeGreaterThanOrEqual(-HALF_WORLD - 1e-6)
        expect(box.east).toBeLessThanOrEqual(HALF_WORLD + 1e-6)
        total += longitudeOf(box.east) - longitudeOf(box.west)
      }
      expect(total).toBeCloseTo(span, 4)
    }),
  )
})

it('the resolution is that of a pixel on the map', () => {
  const { resolution } = geographic(0, -1, 2, 1)!
  expect(resolution).toBeGreaterThan((2 * HALF_WORLD * 0.0199) / 360)
  expect(resolution).toBeLessThan((2 * HALF_WORLD * 0.0201) / 360)
})

describe('turnsOf', () => {
  const raster = { transform: [0, 10, 0, 0, 0, -10] as const, width: 100, height: 100 }
  const there: Point[] = [
    [100, 5],
    [500, 5],
    [900, 5],
  ]
  it.each<[string, Point[], number[]]>([
    ['none if all points return', there, [0]],
    ['one if all points return a turn away', there.map(([x, y]) => [x - 40_000, y]), [-40_000]],
    [
      'two across a seam',
      [
        [100, 5],
        [500, 5],
        [900 - 40_000, 5],
      ],
      [0, -40_000],
    ],
    ['none for points that return to another latitude', there.map(([x]) => [x - 40_000, 900]), [0]],
    ['none for points without a place', there.map(() => [Number.NaN, Number.NaN]), [0]],
    ['none for an error of the projection', there.map(([x, y]) => [x + 30, y]), [0]],
  ])('%s', (_, back, turns) => expect(turnsOf(there, back, raster)).toEqual(turns))
})
