import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { ringArea, visitGeometry } from '../index-file/geopackage-geometry.js'
import { type IndexField, shownColumn } from '../index-file/index-description.js'
import { FeatureFileWriter, PART_LINE, PART_POINTS, PART_RING } from './feature-file.js'
import { latitudeOf, longitudeOf, worldX, worldY } from './grid.js'
import { Values } from './values.js'

/** Cells along the side of a tile as a power of two. Above the deepest zoom each cell shows at most one point. */
const CELL_BITS = 7

/** Bits of a point's position, along each side. */
const PLACE_BITS = 26

/** Number of features whose vertices determine the deepest zoom. */
const SAMPLES = 20_000

/** Facts about every feature that every zoom needs, in arrays by fid that threads share: about 17 bytes per feature. */
export interface Survey {
  /** the largest fid */
  readonly last: number
  /** number of features with a geometry */
  readonly count: number
  /** 0: no geometry, or one that no tile can contain */
  readonly kinds: Uint8Array
  /** area of polygons, length of lines: in units of the world's side */
  readonly sizes: Float32Array
  /** for polygons, the longer side of the box, in the same unit */
  readonly sides: Float32Array
  /** for points, the first zoom at which they are shown */
  readonly zooms: Uint8Array
  /** polygons by layer, those of a layer in the order of a curve whose neighbours are neighbours on the map */
  readonly polygons: Uint32Array
  /** number of the layer of each feature */
  readonly layers: Uint16Array
  /** distance between the vertices, as a fraction of the world's side */
  readonly spacing: number
  /** west, south, east, north in degrees, as in the index */
  readonly box: readonly [number, number, number, number] | null
}

export const POINT = 1
export const LINE = 2
export const POLYGON = 3
export const MIXED = 4

type Cell = string | number | Uint8Array | null

/** Reads all features once, and writes them into the file of features with the attributes of the tiles. */
export function survey(
  db: DatabaseSyncInstance,
  layers: readonly string[],
  fields: readonly IndexField[],
  file: string,
): Survey {
  const { last } = db.prepare('SELECT coalesce(max(fid), 0) AS last FROM features').get() as { last: number }
  const kinds = new Uint8Array(new SharedArrayBuffer(last + 1))
  const sizes = new Float32Array(new SharedArrayBuffer(4 * (last + 1)))
  const sides = new Float32Array(new SharedArrayBuffer(4 * (last + 1)))
  const zooms = new Uint8Array(new SharedArrayBuffer(last + 1))
  const ofLayers = new Uint16Array(new SharedArrayBuffer(2 * (last + 1)))
  const places = new Float64Array(last + 1)
  const values = new Values(fields)
  const numbers = new Map(layers.map((id, i) => [id, i]))
  const every = Math.max(1, Math.floor(last / SAMPLES))
  const gaps: number[] = []
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  const counts = [0, 0, 0, 0, 0]
  const columns = ['fid', 'geom', 'layer', 'feature_id', ...fields.map(shownColumn)]
  const statement = db.prepare(`SELECT ${columns.join(', ')} FROM features WHERE geom IS NOT NULL ORDER BY fid`)
  statement.setReturnArrays(true)
  const output = new FeatureFileWriter(file)
  try {
    for (const row of statement.iterate() as unknown as Iterable<Cell[]>) {
      const fid = row[0] as number
      const seen = new Seen(fid % every === 0 ? gaps : null)
      visitGeometry(row[1] as Uint8Array, seen)
      if (seen.kind === 0) continue
      counts[seen.kind]!++
      kinds[fid] = seen.kind
      sizes[fid] = seen.area > 0 ? seen.area : seen.length
      sides[fid] = Math.max(seen.box[2] - seen.box[0], seen.box[3] - seen.box[1])
      places[fid] = placeOf((seen.box[0] + seen.box[2]) / 2, (seen.box[1] + seen.box[3]) / 2)
      extend(box, seen.box)
      const bytes = values.of(row, 4)
      const layer = numbers.get(row[2] as string) ?? 0
      ofLayers[fid] = layer
      const head = { fid, layer, kind: seen.kind, id: tileId(fid, row[3] as string | null), box: seen.box }
      output.add(head, values.heads, bytes, seen.parts)
    }
  } finally {
    output.close()
  }
  const distances = spread(inOrder(kinds, ofLayers, places, POINT, counts[POINT]!), ofLayers, places, zooms)
  const count = counts.reduce((sum, one) => sum + one, 0)
  return {
    last,
    count,
    kinds,
    sizes,
    sides,
    zooms,
    polygons: inOrder(kinds, ofLayers, places, POLYGON, counts[POLYGON]!),
    layers: ofLayers,
    spacing: Math.min(typical(gaps), typical(distances)),
    box: count === 0 ? null : [longitudeOf(box[0]), latitudeOf(box[3]), longitudeOf(box[2]), latitudeOf(box[1])],
  }
}

/** Returns the id of a feature in tiles: its own id if that is a whole number, its fid if it has no own id, else null. */
function tileId(fid: number, own: string | null): number | null {
  return own === null ? fid : /^\d{1,15}$/.test(own) ? Number(own) : null
}

function extend(box: [number, number, number, number], more: readonly [number, number, number, number]): void {
  if (more[0] < box[0]) box[0] = more[0]
  if (more[1] < box[1]) box[1] = more[1]
  if (more[2] > box[2]) box[2] = more[2]
  if (more[3] > box[3]) box[3] = more[3]
}

/** Collects the parts of a geometry in the unit of tiles, and measures them. */
class Seen {
  kind = 0
  area = 0
  length = 0
  readonly parts: [number, Float64Array][] = []
  readonly box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  readonly #gaps: number[] | null

  constructor(gaps: number[] | null) {
    this.#gaps = gaps
  }

  points(coordinates: Float64Array, size: number): void {
    if (Number.isNaN(coordinates[0]) || Number.isNaN(coordinates[1])) return
    this.#add(POINT, PART_POINTS, coordinates, size, 1)
  }

  line(coordinates: Float64Array, size: number): void {
    if (coordinates.length < 2 * size) return
    this.length += this.#follow(this.#add(LINE, PART_LINE, coordinates, size, coordinates.length / size))
  }

  ring(coordinates: Float64Array, size: number, isOuter: boolean): void {
    if (coordinates.length < 4 * size) return
    const n = coordinates.length
    const isClosed = coordinates[0] === coordinates[n - size] && coordinates[1] === coordinates[n - size + 1]
    const world = this.#add(POLYGON, PART_RING, coordinates, size, n / size - (isClosed ? 1 : 0))
    this.#follow(world)
    this.area += (isOuter ? 0.5 : -0.5) * Math.abs(ringArea(world, 2))
  }

  #add(kind: number, type: number, coordinates: Float64Array, size: number, count: number): Float64Array {
    this.kind = this.kind === 0 || this.kind === kind ? kind : MIXED
    const { box } = this
    const world = new Float64Array(2 * count)
    for (let i = 0; i < count; i++) {
      const x = worldX(coordinates[i * size] as number)
      const y = worldY(coordinates[i * size + 1] as number)
      world[2 * i] = x
      world[2 * i + 1] = y
      if (x < box[0]) box[0] = x
      if (y < box[1]) box[1] = y
      if (x > box[2]) box[2] = x
      if (y > box[3]) box[3] = y
    }
    this.parts.push([type, world])
    return world
  }

  #follow(world: Float64Array): number {
    let length = 0
    for (let i = 2; i < world.length; i += 2) {
      const gap = Math.hypot(world[i]! - world[i - 2]!, world[i + 1]! - world[i - 1]!)
      length += gap
      if (gap > 0 && this.#gaps !== null && this.#gaps.length < 10 * SAMPLES) this.#gaps.push(gap)
    }
    return length
  }
}

/** Returns a position on a curve whose neighbours are neighbours on the map: alternating bits of x and y (Morton, 1966). */
function placeOf(x: number, y: number): number {
  const cells = 2 ** PLACE_BITS
  const column = Math.max(0, Math.min(cells - 1, Math.floor((((x % 1) + 1) % 1) * cells)))
  const row = Math.max(0, Math.min(cells - 1, Math.floor(y * cells)))
  const high = interleave(column >>> 13) + 2 * interleave(row >>> 13)
  const low = interleave(column & 0x1fff) + 2 * interleave(row & 0x1fff)
  return high * 2 ** 26 + low
}

function interleave(value: number): number {
  let spreadBits = value & 0xffff
  spreadBits = (spreadBits | (spreadBits << 8)) & 0x00ff00ff
  spreadBits = (spreadBits | (spreadBits << 4)) & 0x0f0f0f0f
  spreadBits = (spreadBits | (spreadBits << 2)) & 0x33333333
  return (spreadBits | (spreadBits << 1)) & 0x55555555
}

/** Returns the features of a kind by layer, along the curve of their positions. */
function inOrder(
  kinds: Uint8Array,
  layers: Uint16Array,
  places: Float64Array,
  kind: number,
  count: number,
): Uint32Array {
  const order = new Uint32Array(new SharedArrayBuffer(4 * count))
  let next = 0
  for (let fid = 0; fid < kinds.length; fid++) if (kinds[fid] === kind) order[next++] = fid
  return order.sort(
    (a, b) => (layers[a] as number) - (layers[b] as number) || (places[a] as number) - (places[b] as number) || a - b,
  )
}

/**
 * Assigns each point the first zoom at which it is shown. Each cell of a zoom's grid shows one point of each layer, which stays at deeper zooms. The
 * point is chosen randomly, so that the grid is not visible. Returns the distances between neighbouring points.
 */
function spread(order: Uint32Array, layers: Uint16Array, places: Float64Array, zooms: Uint8Array): number[] {
  const distances: number[] = []
  const every = Math.max(1, Math.floor(order.length / SAMPLES))
  for (let i = 1; i < order.length; i += every) {
    // Two positions that share all but this many bits lie in one cell of this size.
    const difference = (places[order[i] as number] as number) - (places[order[i - 1] as number] as number)
    if (difference > 0) distances.push(Math.sqrt(difference) / 2 ** PLACE_BITS)
  }
  let winners = order
  for (let zoom = PLACE_BITS - CELL_BITS; zoom >= 0; zoom--) {
    const cell = 4 ** (PLACE_BITS - CELL_BITS - zoom)
    let kept = 0
    let [current, layer] = [-1, -1]
    for (const fid of winners) {
      const at = Math.floor((places[fid] as number) / cell)
      const before = winners[kept - 1] as number
      if (at !== current || layers[fid] !== layer) {
        current = at
        layer = layers[fid] as number
        winners[kept++] = fid
      } else if (lot(fid) > lot(before)) {
        zooms[before] = zoom + 1
        winners[kept - 1] = fid
      } else zooms[fid] = zoom + 1
    }
    winners = winners.subarray(0, kept)
  }
  return distances
}

/** Returns a pseudo-random number that is the same in every build and independent of the feature's content. */
export function lot(fid: number): number {
  return Math.imul(Math.imul(fid, 0x9e3779b1) ^ (fid >>> 15), 0x85ebca6b) >>> 0
}

/** Returns a distance that most distances exceed. */
function typical(distances: number[]): number {
  if (distances.length === 0) return Number.POSITIVE_INFINITY
  distances.sort((a, b) => a - b)
  return distances[Math.floor(distances.length / 4)] as number
}
