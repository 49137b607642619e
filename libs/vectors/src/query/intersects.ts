import type { Geometry, Position } from './cql2/expression.js'

/** The points, lines and polygons of a geometry, in the plane of longitude and latitude. */
interface Parts {
  readonly points: Position[]
  readonly lines: (readonly Position[])[]
  readonly polygons: (readonly (readonly Position[])[])[]
}

function partsOf(geometry: Geometry, into: Parts = { points: [], lines: [], polygons: [] }): Parts {
  switch (geometry.type) {
    case 'Point':
      into.points.push(geometry.coordinates)
      break
    case 'MultiPoint':
      append(into.points, geometry.coordinates)
      break
    case 'LineString':
      into.lines.push(geometry.coordinates)
      break
    case 'MultiLineString':
      append(into.lines, geometry.coordinates)
      break
    case 'Polygon':
      into.polygons.push(geometry.coordinates)
      break
    case 'MultiPolygon':
      append(into.polygons, geometry.coordinates)
      break
    case 'GeometryCollection':
      for (const inner of geometry.geometries) partsOf(inner, into)
  }
  return into
}

/** One by one: a call takes some 100,000 arguments. */
function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one)
}

/** True if two geometries share a point (OGC 06-103r4, 6.1.15.3). Boundaries belong to the geometries. */
export function intersects(a: Geometry, b: Geometry): boolean {
  const one = partsOf(a)
  const other = partsOf(b)
  for (const point of one.points) if (covers(other, point)) return true
  for (const point of other.points) if (covers(one, point)) return true
  const mine = linesOf(one)
  const theirs = linesOf(other)
  for (const line of mine) for (const its of theirs) if (doCross(line, its)) return true
  // No boundaries cross, so one contains the other completely, or they are disjoint.
  for (const line of mine) if (line[0] !== undefined && isInside(other, line[0])) return true
  for (const line of theirs) if (line[0] !== undefined && isInside(one, line[0])) return true
  return false
}

function linesOf({ lines, polygons }: Parts): (readonly Position[])[] {
  return [...lines, ...polygons.flat()]
}

function covers(parts: Parts, point: Position): boolean {
  const [x = 0, y = 0] = point
  if (parts.points.some(([px, py]) => px === x && py === y)) return true
  if (linesOf(parts).some((line) => isOnLine(line, x, y))) return true
  return isInside(parts, point)
}

function isInside({ polygons }: Parts, [x = 0, y = 0]: Position): boolean {
  return polygons.some((rings) => {
    let inside = false
    for (const ring of rings) {
      for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
        const [ax = 0, ay = 0] = ring[i] as Position
        const [bx = 0, by = 0] = ring[j] as Position
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
      }
    }
    return inside
  })
}

function isOnLine(line: readonly Position[], x: number, y: number): boolean {
  for (let i = 1; i < line.length; i++) {
    const [ax = 0, ay = 0] = line[i - 1] as Position
    const [bx = 0, by = 0] = line[i] as Position
    if (isOnSegment(ax, ay, bx, by, x, y)) return true
  }
  return false
}

function isOnSegment(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if (x < Math.min(ax, bx) || x > Math.max(ax, bx) || y < Math.min(ay, by) || y > Math.max(ay, by)) return false
  return turn(ax, ay, bx, by, x, y) === 0
}

function turn(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax))
}

function doCross(one: readonly Position[], other: readonly Position[]): boolean {
  const [west, south, east, north] = boxOfLine(other)
  for (let i = 1; i < one.length; i++) {
    const [ax = 0, ay = 0] = one[i - 1] as Position
    const [bx = 0, by = 0] = one[i] as Position
    if (Math.max(ax, bx) < west || Math.min(ax, bx) > east || Math.max(ay, by) < south || Math.min(ay, by) > north)
      continue
    for (let j = 1; j < other.length; j++) {
      const [cx = 0, cy = 0] = other[j - 1] as Position
      const [dx = 0, dy = 0] = other[j] as Position
      const c = turn(ax, ay, bx, by, cx, cy)
      const d = turn(ax, ay, bx, by, dx, dy)
      const a = turn(cx, cy, dx, dy, ax, ay)
      const b = turn(cx, cy, dx, dy, bx, by)
      if (c !== d && a !== b) return true
      if (c === 0 && isOnSegment(ax, ay, bx, by, cx, cy)) return true
      if (a === 0 && isOnSegment(cx, cy, dx, dy, ax, ay)) return true
    }
  }
  return false
}

function boxOfLine(line: readonly Position[]): [number, number, number, number] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x = 0, y = 0] of line) {
    west = Math.min(west, x)
    south = Math.min(south, y)
    east = Math.max(east, x)
    north = Math.max(north, y)
  }
  return [west, south, east, north]
}
