/** Points as x, y, x, y ... in whole units; a ring does not repeat its first point. */
export type Path = number[]

export interface Box {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

export function clipPoints(points: Path, { minX, minY, maxX, maxY }: Box): Path {
  const kept: Path = []
  for (let i = 0; i < points.length; i += 2) {
    const x = points[i] as number
    const y = points[i + 1] as number
    if (x >= minX && x <= maxX && y >= minY && y <= maxY) kept.push(x, y)
  }
  return kept
}

/** Returns the parts of a line that lie in a box (Liang and Barsky, 1984). */
export function clipLine(line: Path, box: Box): Path[] {
  const parts: Path[] = []
  let part: Path = []
  for (let i = 0; i + 3 < line.length; i += 2) {
    const [ax, ay, bx, by] = [line[i], line[i + 1], line[i + 2], line[i + 3]] as [number, number, number, number]
    const span = insideSpan(ax, ay, bx, by, box)
    if (span === null) continue
    const [from, to] = span
    if (from > 0 || part.length === 0) {
      if (part.length > 2) parts.push(part)
      part = [Math.round(ax + (bx - ax) * from), Math.round(ay + (by - ay) * from)]
    }
    add(part, Math.round(ax + (bx - ax) * to), Math.round(ay + (by - ay) * to))
    if (to < 1) {
      if (part.length > 2) parts.push(part)
      part = []
    }
  }
  if (part.length > 2) parts.push(part)
  return parts
}

function insideSpan(ax: number, ay: number, bx: number, by: number, box: Box): [number, number] | null {
  let from = 0
  let to = 1
  const dx = bx - ax
  const dy = by - ay
  for (const [p, q] of [
    [-dx, ax - box.minX],
    [dx, box.maxX - ax],
    [-dy, ay - box.minY],
    [dy, box.maxY - ay],
  ] as const) {
    if (p === 0) {
      if (q < 0) return null
    } else if (p < 0) from = Math.max(from, q / p)
    else to = Math.min(to, q / p)
  }
  return from > to ? null : [from, to]
}

/** Returns the part of a ring in a box (Sutherland and Hodgman, 1974). It may run along the box's edges twice; `cleanPolygon` removes such parts. */
export function clipRing(ring: Path, { minX, minY, maxX, maxY }: Box): Path {
  let clipped = clipSide(ring, 0, minX, 1)
  clipped = clipSide(clipped, 0, maxX, -1)
  clipped = clipSide(clipped, 1, minY, 1)
  return clipSide(clipped, 1, maxY, -1)
}

/** Returns the part on one side of an edge; `axis` 0 is x. `sign` 1: above `edge`. */
function clipSide(ring: Path, axis: 0 | 1, edge: number, sign: 1 | -1): Path {
  const n = ring.length
  let all = true
  for (let i = axis; i < n && all; i += 2) all = ((ring[i] as number) - edge) * sign >= 0
  if (all) return ring
  const out: Path = []
  for (let i = 0; i < n; i += 2) {
    const j = i + 2 === n ? 0 : i + 2
    const [ax, ay, bx, by] = [ring[i], ring[i + 1], ring[j], ring[j + 1]] as [number, number, number, number]
    const a = ((axis === 0 ? ax : ay) - edge) * sign
    const b = ((axis === 0 ? bx : by) - edge) * sign
    if (a >= 0) add(out, ax, ay)
    if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
      const t = a / (a - b)
      if (axis === 0) add(out, edge, Math.round(ay + (by - ay) * t))
      else add(out, Math.round(ax + (bx - ax) * t), edge)
    }
  }
  return out
}

/** Appends a point unless it equals the last one. */
export function add(path: Path, x: number, y: number): void {
  const n = path.length
  if (n >= 2 && path[n - 2] === x && path[n - 1] === y) return
  path.push(x, y)
}

export function isIn(path: Path, { minX, minY, maxX, maxY }: Box): boolean {
  for (let i = 0; i < path.length; i += 2) {
    const x = path[i] as number
    const y = path[i + 1] as number
    if (x < minX || x > maxX || y < minY || y > maxY) return false
  }
  return true
}
