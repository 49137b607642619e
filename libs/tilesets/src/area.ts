import { type Bounds, onOneTurn } from '@gateway/contracts/basemap.js'

/**
 * Returns the intersection of two areas in degrees (west greater than east: across the antimeridian): no, one or two boxes. A common edge does not
 * count. A box without width or height, such as that of a point, has an intersection if the other one contains it.
 */
export function commonParts(one: Bounds, other: Bounds): Bounds[] {
  const isThin = { x: one[0] === one[2] || other[0] === other[2], y: one[1] === one[3] || other[1] === other[3] }
  const parts = halvesOf(one).flatMap((a) =>
    halvesOf(other).flatMap((b): Bounds[] => {
      const [west, south] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])]
      const [east, north] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])]
      const isCommon = (west < east || (isThin.x && west === east)) && (south < north || (isThin.y && south === north))
      return isCommon ? [[west, south, east, north]] : []
    }),
  )
  return joinedAtAntimeridian(parts)
}

/**
 * Returns the bounds of the intersection of two areas, or null if it is empty. For two parts, the bounds span both across the antimeridian.
 * @param bounds null: unknown, treated as the whole world
 */
export function commonBounds(area: Bounds, bounds: Bounds | null): Bounds | null {
  const [first, second] = bounds === null ? [area] : commonParts(area, bounds)
  if (first === undefined || second === undefined) return first ?? null
  const [east, west] = first[0] < second[0] ? [second, first] : [first, second]
  return [east[0], first[1], west[2], first[3]]
}

/** Returns the box around others in degrees; null if one is unknown, or the list is empty. If one of several boxes crosses the antimeridian, the result spans the earth. */
export function boundsAround(boxes: readonly (Bounds | null)[]): Bounds | null {
  const known = boxes.filter((box) => box !== null)
  const [first] = known
  if (first === undefined || known.length < boxes.length) return null
  if (known.length === 1) return first
  const side = (i: number) => known.map((box) => box[i] as number)
  const south = Math.min(...side(1))
  const north = Math.max(...side(3))
  if (known.some(([west, , east]) => west > east)) return [-180, south, 180, north]
  return [Math.min(...side(0)), south, Math.max(...side(2)), north]
}

function halvesOf(bounds: Bounds): readonly Bounds[] {
  const [west, south, east, north] = onOneTurn(bounds)
  if (west <= east) return [[west, south, east, north]]
  return [
    [west, south, 180, north],
    [-180, south, east, north],
  ]
}

/** Joins a part that ends at the antimeridian with the one that begins there. */
function joinedAtAntimeridian(parts: readonly Bounds[]): Bounds[] {
  const before = parts.find(([west, , east]) => east === 180 && west > -180)
  const after = parts.find(([west, , east]) => west === -180 && east < 180)
  if (before === undefined || after === undefined || parts.length !== 2) return [...parts]
  return [[before[0], before[1], after[2], before[3]]]
}
