import type { Box, Path } from './clip.js'

/** An edge, from its smaller point to its larger one. */
type Edge = readonly [ax: number, ay: number, bx: number, by: number]

/** Returns twice the area of a ring, positive for an outer ring of a vector tile. */
export function doubleArea(ring: Path): number {
  let sum = 0
  for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2)
    sum += (ring[j] as number) * (ring[i + 1] as number) - (ring[i] as number) * (ring[j + 1] as number)
  return sum
}

/** Maximum number of rounds that cut edges at their crossings. Each rounds new points to the grid, and few polygons need a third. */
const MAX_ROUNDS = 24

/** Maximum number of cuts of a polygon's edges in one round. Above it the polygon is drawn on a coarse grid, which takes a bounded time. */
const MAX_CUTS = 200_000

/**
 * Maximum number of pairs of edges, and of edges in bands, that are looked at for one polygon: some, and more for each point. Most polygons take about
 * 100 for each point; one whose long edges all cross takes the square of the points. Above it the polygon is drawn on the coarse grid, too.
 */
const MAX_LOOKS = 1_000_000
const MAX_LOOKS_PER_POINT = 200

interface Effort {
  /** negative: the limit is reached */
  left: number
}

/** Maximum number of cells along the longer side of that grid. */
const RASTER_CELLS = 256

/**
 * Returns the area that rings enclose by the even-odd rule as valid polygons (OGC Simple Features): no ring touches itself, rings touch one
 * another only in points, and each outer ring, with a positive area, is followed by its holes, with negative areas. Input and output points
 * are whole numbers below 2^25, so crossings between them are rounded.
 */
export function cleanPolygon(rings: readonly Path[]): Path[][] {
  const proper = rings.map(withoutRepeats).filter((ring) => ring.length >= 6)
  if (proper.length === 0) return []
  const points = proper.reduce((sum, ring) => sum + ring.length / 2, 0)
  const effort = { left: MAX_LOOKS + MAX_LOOKS_PER_POINT * points }
  if (isClean(proper, effort)) return grouped(proper)
  const edges = noded(edgesOf(proper), effort)
  const found = edges && traced(edges, effort)
  return nested(found ?? traced(rasterized(proper), { left: Number.POSITIVE_INFINITY }) ?? [])
}

export function withoutRepeats(ring: Path): Path {
  const kept: Path = []
  for (let i = 0; i < ring.length; i += 2) {
    const n = kept.length
    if (n >= 2 && kept[n - 2] === ring[i] && kept[n - 1] === ring[i + 1]) continue
    kept.push(ring[i] as number, ring[i + 1] as number)
  }
  while (kept.length >= 4 && kept[0] === kept.at(-2) && kept[1] === kept.at(-1)) kept.length -= 2
  return kept
}

/** Groups rings that neither touch nor cross: a point of each ring decides which ring contains it. */
function grouped(rings: readonly Path[]): Path[][] {
  if (rings.length === 1) return doubleArea(rings[0] as Path) === 0 ? [] : [[oriented(rings[0] as Path, true)]]
  const depths = rings.map((ring) => rings.filter((other) => other !== ring && contains(other, ring)).length)
  return nested(rings.map((ring, i) => oriented(ring, (depths[i] as number) % 2 === 0)))
}

function oriented(ring: Path, isOuter: boolean): Path {
  if (doubleArea(ring) > 0 === isOuter) return ring
  const turned: Path = []
  for (let i = ring.length - 2; i >= 0; i -= 2) turned.push(ring[i] as number, ring[i + 1] as number)
  return turned
}

/** Assigns each hole to the smallest outer ring around it. */
function nested(rings: readonly Path[]): Path[][] {
  const outer = rings.map((ring) => ({ ring, area: doubleArea(ring) })).filter(({ area }) => area > 0)
  const polygons = outer.sort((a, b) => a.area - b.area).map(({ ring }) => [ring])
  if (polygons.length === rings.length) return polygons
  const boxes = polygons.map(([ring]) => boxOf(ring as Path))
  for (const hole of rings) {
    if (doubleArea(hole) >= 0) continue
    const [x, y] = [hole[0] as number, hole[1] as number]
    const around = polygons.findIndex(([ring], i) => {
      const { minX, minY, maxX, maxY } = boxes[i] as Box
      return x >= minX && x <= maxX && y >= minY && y <= maxY && contains(ring as Path, hole)
    })
    polygons[around]?.push(hole)
  }
  return polygons
}

function boxOf(ring: Path): Box {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i < ring.length; i += 2) {
    minX = Math.min(minX, ring[i] as number)
    maxX = Math.max(maxX, ring[i] as number)
    minY = Math.min(minY, ring[i + 1] as number)
    maxY = Math.max(maxY, ring[i + 1] as number)
  }
  return { minX, minY, maxX, maxY }
}

/** True if `outer` contains the middle of the first edge of `ring`, which lies on no edge of `outer`. */
function contains(outer: Path, ring: Path): boolean {
  const x = (ring[0] as number) + (ring[2] as number)
  const y = (ring[1] as number) + (ring[3] as number)
  let inside = false
  for (let i = 0, j = outer.length - 2; i < outer.length; j = i, i += 2) {
    const [ax, ay, bx, by] = [2 * outer[j]!, 2 * outer[j + 1]!, 2 * outer[i]!, 2 * outer[i + 1]!]
    if (ay > y !== by > y && isRightOf(ax, ay, bx, by, x, y)) inside = !inside
  }
  return inside
}

/** True if an edge that crosses the row of a point does so to the right of the point. */
function isRightOf(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  const cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
  return by > ay ? cross > 0 : cross < 0
}

/** Number of points up to which every pair of edges is compared, because that is faster than sorting them. */
const FEW_POINTS = 32

/** True if no two edges meet except neighbours of a ring, and these only in their common point. */
function isClean(rings: readonly Path[], effort: Effort): boolean {
  if (rings.length === 1 && (rings[0] as Path).length <= 2 * FEW_POINTS) return isSimple(rings[0] as Path)
  const edges: Edge[] = []
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = i + 2 === ring.length ? 0 : i + 2
      edges.push(edgeOf(ring[i]!, ring[i + 1]!, ring[j]!, ring[j + 1]!))
    }
  }
  const points = new Set<number>()
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      const key = keyOf(ring[i]!, ring[i + 1]!)
      if (points.has(key)) return false
      points.add(key)
    }
  }
  return !meetings(edges, effort, () => true) && effort.left >= 0
}

function isSimple(ring: Path): boolean {
  const n = ring.length
  for (let i = 0; i < n; i += 2) {
    const [ax, ay, bx, by] = edgeFrom(ring, i)
    for (let j = i + 2; j < n; j += 2) {
      if (ring[i] === ring[j] && ring[i + 1] === ring[j + 1]) return false
      const [cx, cy, dx, dy] = edgeFrom(ring, j)
      if (cx <= bx && dx >= ax && doMeet(ax, ay, bx, by, cx, cy, dx, dy)) return false
    }
  }
  return true
}

function edgeFrom(ring: Path, i: number): Edge {
  const next = i + 2 === ring.length ? 0 : i + 2
  return edgeOf(ring[i]!, ring[i + 1]!, ring[next]!, ring[next + 1]!)
}

function edgeOf(ax: number, ay: number, bx: number, by: number): Edge {
  return ax < bx || (ax === bx && ay <= by) ? [ax, ay, bx, by] : [bx, by, ax, ay]
}

const OFFSET = 2 ** 25

function keyOf(x: number, y: number): number {
  return (x + OFFSET) * 2 ** 26 + (y + OFFSET)
}

/**
 * Calls back for each pair of edges that meet anywhere except in a common end, until the callback returns true or the effort is spent; some pairs are
 * reported several times. Compares two edges only if their boxes meet, in bands of rows.
 */
function meetings(edges: readonly Edge[], effort: Effort, onMeeting: (i: number, j: number) => boolean): boolean {
  const bands = new Bands(
    edges.map(([, ay, , by]) => [Math.min(ay, by), Math.max(ay, by)] as const),
    effort,
  )
  return bands.all.some((band) => meetingsOf(edges, band, effort, onMeeting))
}

function meetingsOf(
  edges: readonly Edge[],
  band: readonly number[],
  effort: Effort,
  onMeeting: (i: number, j: number) => boolean,
): boolean {
  const order = [...band].sort((i, j) => edges[i]![0] - edges[j]![0])
  const active: number[] = []
  for (const i of order) {
    const [ax, ay, bx, by] = edges[i] as Edge
    const low = Math.min(ay, by)
    const high = Math.max(ay, by)
    effort.left -= active.length
    if (effort.left < 0) return true
    let kept = 0
    for (const j of active) {
      const [cx, cy, dx, dy] = edges[j] as Edge
      if (dx < ax) continue
      active[kept++] = j
      if (Math.min(cy, dy) > high || Math.max(cy, dy) < low) continue
      if (doMeet(ax, ay, bx, by, cx, cy, dx, dy) && onMeeting(i, j)) return true
    }
    active.length = kept
    active.push(i)
  }
  return false
}

/** Average number of edges in a band. */
const BAND_EDGES = 32

/** Edges by the rows, or the columns, that they touch, which avoids comparing a polygon with a million points pair by pair. */
class Bands {
  readonly all: number[][]
  readonly #low: number
  readonly #height: number

  /** With no effort left there are no bands. */
  constructor(spans: readonly (readonly [number, number])[], effort: Effort) {
    let low = Number.POSITIVE_INFINITY
    let high = Number.NEGATIVE_INFINITY
    for (const [from, to] of spans) {
      if (from < low) low = from
      if (to > high) high = to
    }
    const count = Math.max(1, Math.min(Math.floor(spans.length / BAND_EDGES), high - low))
    this.#low = low
    this.#height = spans.length === 0 ? 1 : Math.max(1, Math.ceil((high - low + 1) / count))
    this.all = Array.from({ length: spans.length === 0 ? 1 : Math.floor((high - low) / this.#height) + 1 }, () => [])
    for (const [from, to] of spans) effort.left -= this.#bandOf(to) - this.#bandOf(from) + 1
    if (effort.left < 0) return
    for (const [i, [from, to]] of spans.entries()) {
      for (let band = this.#bandOf(from); band <= this.#bandOf(to); band++) this.all[band]!.push(i)
    }
  }

  /** Returns the edges that may touch a row; half rows count as rows. */
  at(row: number): readonly number[] {
    return this.all[this.#bandOf(row)] ?? []
  }

  #bandOf(row: number): number {
    return Math.floor((row - this.#low) / this.#height)
  }
}

function doMeet(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): boolean {
  const c = side(ax, ay, bx, by, cx, cy)
  const d = side(ax, ay, bx, by, dx, dy)
  const a = side(cx, cy, dx, dy, ax, ay)
  const b = side(cx, cy, dx, dy, bx, by)
  if (c !== 0 && d !== 0 && a !== 0 && b !== 0) return c > 0 !== d > 0 && a > 0 !== b > 0
  return (
    (c === 0 && isBetween(ax, ay, bx, by, cx, cy)) ||
    (d === 0 && isBetween(ax, ay, bx, by, dx, dy)) ||
    (a === 0 && isBetween(cx, cy, dx, dy, ax, ay)) ||
    (b === 0 && isBetween(cx, cy, dx, dy, bx, by))
  )
}

function side(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax)
}

/** True if a point on an edge's line lies on the edge and is not one of its ends. */
function isBetween(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if ((x === ax && y === ay) || (x === bx && y === by)) return false
  return x >= ax && x <= bx && y >= Math.min(ay, by) && y <= Math.max(ay, by)
}

/** A set of edges by the even-odd rule: an edge that occurs twice is removed. */
class EdgeSet {
  readonly #edges = new Map<string, Edge>()

  toggle(ax: number, ay: number, bx: number, by: number): void {
    if (ax === bx && ay === by) return
    const edge = edgeOf(ax, ay, bx, by)
    const key = edge.join()
    if (!this.#edges.delete(key)) this.#edges.set(key, edge)
  }

  all(): Edge[] {
    return [...this.#edges.values()]
  }
}

function edgesOf(rings: readonly Path[]): Edge[] {
  const set = new EdgeSet()
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = i + 2 === ring.length ? 0 : i + 2
      set.toggle(ring[i]!, ring[i + 1]!, ring[j]!, ring[j + 1]!)
    }
  }
  return set.all()
}

/** Cuts edges at their crossings, until all meet only in their ends. Returns null if the limit of rounds, cuts or effort is reached. */
function noded(first: Edge[], effort: Effort): Edge[] | null {
  let edges = first
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const cuts = new Map<number, [number, number][]>()
    let count = 0
    const cut = (i: number, x: number, y: number) => {
      const [ax, ay, bx, by] = edges[i] as Edge
      if ((x === ax && y === ay) || (x === bx && y === by)) return
      count++
      const known = cuts.get(i)
      if (known === undefined) cuts.set(i, [[x, y]])
      else known.push([x, y])
    }
    meetings(edges, effort, (i, j) => {
      const [ax, ay, bx, by] = edges[i] as Edge
      const [cx, cy, dx, dy] = edges[j] as Edge
      const c = side(ax, ay, bx, by, cx, cy)
      const d = side(ax, ay, bx, by, dx, dy)
      const a = side(cx, cy, dx, dy, ax, ay)
      const b = side(cx, cy, dx, dy, bx, by)
      if (c === 0 && isBetween(ax, ay, bx, by, cx, cy)) cut(i, cx, cy)
      if (d === 0 && isBetween(ax, ay, bx, by, dx, dy)) cut(i, dx, dy)
      if (a === 0 && isBetween(cx, cy, dx, dy, ax, ay)) cut(j, ax, ay)
      if (b === 0 && isBetween(cx, cy, dx, dy, bx, by)) cut(j, bx, by)
      if (a !== 0 && b !== 0 && c !== 0 && d !== 0) {
        const t = a / (a - b)
        const x = Math.round(ax + (bx - ax) * t)
        const y = Math.round(ay + (by - ay) * t)
        cut(i, x, y)
        cut(j, x, y)
      }
      return count > MAX_CUTS
    })
    if (count > MAX_CUTS || effort.left < 0) return null
    if (cuts.size === 0) return edges
    const set = new EdgeSet()
    edges.forEach(([ax, ay, bx, by], i) => {
      const points = (cuts.get(i) ?? []).sort(
        ([x1, y1], [x2, y2]) =>
          (x1 - ax) * (bx - ax) + (y1 - ay) * (by - ay) - (x2 - ax) * (bx - ax) - (y2 - ay) * (by - ay),
      )
      let [x, y] = [ax, ay]
      for (const [nextX, nextY] of [...points, [bx, by] as const]) {
        set.toggle(x, y, nextX, nextY)
        x = nextX
        y = nextY
      }
    })
    edges = set.all()
  }
  return null
}

/** Returns the sides of the cells whose middles the rings enclose by the even-odd rule. */
function rasterized(rings: readonly Path[]): Edge[] {
  const box = boxOf(rings.flat())
  const cell = Math.max(1, Math.ceil(Math.max(box.maxX - box.minX, box.maxY - box.minY) / RASTER_CELLS))
  const columns = Math.ceil((box.maxX - box.minX) / cell)
  const set = new EdgeSet()
  for (let top = box.minY; top < box.maxY; top += cell) {
    const crossings = crossingsOf(rings, top + cell / 2).sort((a, b) => a - b)
    let passed = 0
    for (let column = 0; column < columns; column++) {
      const left = box.minX + column * cell
      while (passed < crossings.length && (crossings[passed] as number) <= left + cell / 2) passed++
      if (passed % 2 === 0) continue
      set.toggle(left, top, left + cell, top)
      set.toggle(left, top + cell, left + cell, top + cell)
      set.toggle(left, top, left, top + cell)
      set.toggle(left + cell, top, left + cell, top + cell)
    }
  }
  return set.all()
}

/** Returns the positions at which the edges of rings cross a row. */
function crossingsOf(rings: readonly Path[], row: number): number[] {
  const found: number[] = []
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
      const [ax, ay, bx, by] = [ring[j] as number, ring[j + 1] as number, ring[i] as number, ring[i + 1] as number]
      if (ay > row !== by > row) found.push(ax + ((row - ay) / (by - ay)) * (bx - ax))
    }
  }
  return found
}

interface Outgoing {
  readonly toX: number
  readonly toY: number
  readonly angle: number
  used: boolean
}

/**
 * Returns the rings around the interior of edges that meet only in their ends. The interior lies on one side of each ring, and no ring touches itself.
 * Returns null if the effort is spent.
 */
function traced(edges: readonly Edge[], effort: Effort): Path[] | null {
  const from = new Map<number, Outgoing[]>()
  const all = directed(edges, effort)
  if (all === null) return null
  for (const [ax, ay, bx, by] of all) {
    const out = { toX: bx, toY: by, angle: Math.atan2(by - ay, bx - ax), used: false }
    const known = from.get(keyOf(ax, ay))
    if (known === undefined) from.set(keyOf(ax, ay), [out])
    else known.push(out)
  }
  const rings: Path[] = []
  for (const [key, outs] of from) {
    for (const start of outs) {
      if (start.used) continue
      let [x, y] = [Math.floor(key / 2 ** 26) - OFFSET, (key % 2 ** 26) - OFFSET]
      const walk: Path = []
      let edge: Outgoing | undefined = start
      while (edge !== undefined && !edge.used) {
        edge.used = true
        walk.push(x, y)
        const back: number = Math.atan2(y - edge.toY, x - edge.toX)
        x = edge.toX
        y = edge.toY
        edge = nextClockwise(from.get(keyOf(x, y)) ?? [], back)
      }
      rings.push(...loops(walk))
    }
  }
  return rings
}

/** Returns the first unused edge from a point, clockwise from a direction: the interior lies between both. */
function nextClockwise(outs: readonly Outgoing[], back: number): Outgoing | undefined {
  let best: Outgoing | undefined
  let bestTurn = Number.POSITIVE_INFINITY
  for (const out of outs) {
    if (out.used) continue
    let turn = back - out.angle
    if (turn <= 0) turn += 2 * Math.PI
    if (turn < bestTurn) {
      bestTurn = turn
      best = out
    }
  }
  return best
}

/** Cuts a walk at points that it visits again. */
function loops(walk: Path): Path[] {
  const found: Path[] = []
  const stack: Path = []
  const at = new Map<number, number>()
  for (let i = 0; i < walk.length; i += 2) {
    const key = keyOf(walk[i]!, walk[i + 1]!)
    const seen = at.get(key)
    if (seen !== undefined) {
      const loop = stack.splice(seen)
      for (let k = 2; k < loop.length; k += 2) at.delete(keyOf(loop[k]!, loop[k + 1]!))
      if (loop.length >= 6) found.push(loop)
    }
    at.set(key, stack.length)
    stack.push(walk[i]!, walk[i + 1]!)
  }
  if (stack.length >= 6) found.push(stack)
  return found.filter((ring) => doubleArea(ring) !== 0)
}

/** Directs each edge so that the interior lies on the same side as for an outer ring. Returns null if the effort is spent. */
function directed(edges: readonly Edge[], effort: Effort): Edge[] | null {
  const rows = new Bands(
    edges.map(([, ay, , by]) => [Math.min(ay, by), Math.max(ay, by)] as const),
    effort,
  )
  const columns = new Bands(
    edges.map(([ax, , bx]) => [ax, bx] as const),
    effort,
  )
  for (const [ax, ay, bx, by] of edges)
    effort.left -= (ay === by ? columns.at((ax + bx) / 2) : rows.at((ay + by) / 2)).length
  if (effort.left < 0) return null
  return edges.map((edge) => {
    const [ax, ay, bx, by] = edge
    const x = ax + bx
    const y = ay + by
    let odd = false
    if (ay === by) {
      // The side of larger y, by the edges that cross the column above it.
      for (const i of columns.at(x / 2)) {
        const [cx, cy, dx, dy] = edges[i] as Edge
        if (2 * cx > x !== 2 * dx > x && isRightOf(2 * cy, 2 * cx, 2 * dy, 2 * dx, y, x)) odd = !odd
      }
      return odd ? edge : [bx, by, ax, ay]
    }
    for (const i of rows.at(y / 2)) {
      const other = edges[i] as Edge
      const [cx, cy, dx, dy] = other
      if (other !== edge && 2 * cy > y !== 2 * dy > y && isRightOf(2 * cx, 2 * cy, 2 * dx, 2 * dy, x, y)) odd = !odd
    }
    return odd === by < ay ? edge : [bx, by, ax, ay]
  })
}
