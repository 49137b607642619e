import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { ringArea, visitGeometry } from '../index-file/geopackage-geometry.js'
import { EXTENT, worldX, worldY } from './grid.js'

/** Limit: the deepest zoom that is chosen by itself. A unit of a tile is 0.6 m there. */
export const MAX_CHOSEN_ZOOM = 14

/** Cells along the side of a tile, of which each shows one point at most above the deepest zoom. */
const CELL_BITS = 7

/** Bits of a point's place, along each side. */
const PLACE_BITS = 26

/** So many units of a tile lie between vertices at the deepest zoom: their places are rounded by a hundredth of that. */
const UNITS_BETWEEN = 64

/** Limit: tiles of a zoom that is deeper than the vertices ask for, which makes places more exact. */
const CHEAP_TILES = 2_000

/** Features whose vertices are looked at for the deepest zoom. */
const SAMPLES = 20_000

/** What tiles at every zoom need to know of every feature, in arrays by number: some 10 bytes a feature. */
export interface Survey {
  /** the largest number of a feature */
  readonly last: number
  /** those that have a geometry */
  readonly count: number
  /** 0: no geometry, or one that no tile can hold */
  readonly kinds: Uint8Array
  /** of polygons, the area; of lines, the length: in units of the world's side */
  readonly sizes: Float32Array
  /** of points, the first zoom at which they are shown */
  readonly zooms: Uint8Array
  /** by how much the places of vertices have to be apart, as a part of the world's side */
  readonly spacing: number
  /** west, south, east, north in degrees, as they are in the index */
  readonly box: readonly [number, number, number, number] | null
}

export const POINT = 1
export const LINE = 2
export const POLYGON = 3
export const MIXED = 4

/** Reads all features once. */
export function survey(db: DatabaseSyncInstance): Survey {
  const { last } = db.prepare('SELECT coalesce(max(fid), 0) AS last FROM features').get() as { last: number }
  const kinds = new Uint8Array(last + 1)
  const sizes = new Float32Array(last + 1)
  const points: { fids: number[]; places: number[] } = { fids: [], places: [] }
  const gaps: number[] = []
  const every = Math.max(1, Math.floor(last / SAMPLES))
  let count = 0
  const rows = db.prepare('SELECT fid, geom FROM features WHERE geom IS NOT NULL').iterate() as IterableIterator<{
    fid: number
    geom: Uint8Array
  }>
  for (const { fid, geom } of rows) {
    const seen = new Seen(fid % every === 0 ? gaps : null)
    visitGeometry(geom, seen)
    if (seen.kind === 0) continue
    count++
    kinds[fid] = seen.kind
    sizes[fid] = seen.area > 0 ? seen.area : seen.length
    if (seen.kind === POINT) {
      points.fids.push(fid)
      points.places.push(placeOf(seen.x, seen.y))
    }
  }
  const box = db
    .prepare(
      'SELECT min(minx) AS west, min(miny) AS south, max(maxx) AS east, max(maxy) AS north FROM rtree_features_geom',
    )
    .get() as { west: number | null; south: number; east: number; north: number }
  const zooms = new Uint8Array(last + 1)
  const distances = spread(points.fids, points.places, zooms)
  return {
    last,
    count,
    kinds,
    sizes,
    zooms,
    spacing: Math.min(typical(gaps), typical(distances)),
    box: box.west === null ? null : [box.west, box.south, box.east, box.north],
  }
}

class Seen {
  kind = 0
  area = 0
  length = 0
  x = 0
  y = 0
  readonly #gaps: number[] | null

  constructor(gaps: number[] | null) {
    this.#gaps = gaps
  }

  points(coordinates: Float64Array): void {
    const [longitude = Number.NaN, latitude = Number.NaN] = coordinates
    if (Number.isNaN(longitude) || Number.isNaN(latitude)) return
    this.#is(POINT)
    this.x = worldX(longitude)
    this.y = worldY(latitude)
  }

  line(coordinates: Float64Array, size: number): void {
    if (coordinates.length < 2 * size) return
    this.#is(LINE)
    this.length += this.#follow(coordinates, size)
  }

  ring(coordinates: Float64Array, size: number, isOuter: boolean): void {
    if (coordinates.length < 4 * size) return
    this.#is(POLYGON)
    this.#follow(coordinates, size)
    const world = new Float64Array((coordinates.length / size) * 2)
    for (let i = 0, k = 0; i < coordinates.length; i += size, k += 2) {
      world[k] = worldX(coordinates[i] as number)
      world[k + 1] = worldY(coordinates[i + 1] as number)
    }
    this.area += (isOuter ? 0.5 : -0.5) * Math.abs(ringArea(world, 2))
  }

  #is(kind: number): void {
    this.kind = this.kind === 0 || this.kind === kind ? kind : MIXED
  }

  #follow(coordinates: Float64Array, size: number): number {
    let length = 0
    for (let i = size; i + 1 < coordinates.length; i += size) {
      const dx = worldX(coordinates[i] as number) - worldX(coordinates[i - size] as number)
      const dy = worldY(coordinates[i + 1] as number) - worldY(coordinates[i - size + 1] as number)
      const gap = Math.hypot(dx, dy)
      length += gap
      if (gap > 0 && this.#gaps !== null && this.#gaps.length < 10 * SAMPLES) this.#gaps.push(gap)
    }
    return length
  }
}

/** A place on a curve whose neighbours are neighbours on the map: the bits of x and y by turns (Morton, 1966). */
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

/**
 * Gives each point the first zoom at which it is shown: of the points in a cell of the zoom's grid one, and the same again at deeper zooms. Which
 * one is drawn by lot, so that the grid is not seen. Answers how far points lie from their neighbours.
 */
function spread(fids: readonly number[], places: readonly number[], zooms: Uint8Array): number[] {
  const order = Uint32Array.from(places, (_, i) => i)
  order.sort((a, b) => (places[a] as number) - (places[b] as number))
  const distances: number[] = []
  const every = Math.max(1, Math.floor(order.length / SAMPLES))
  for (let i = 1; i < order.length; i += every) {
    // Two places that share all but so many bits lie in one cell of this size.
    const difference = (places[order[i] as number] as number) - (places[order[i - 1] as number] as number)
    if (difference > 0) distances.push(Math.sqrt(difference) / 2 ** PLACE_BITS)
  }
  let winners = order
  for (let zoom = PLACE_BITS - CELL_BITS; zoom >= 0; zoom--) {
    const cell = 4 ** (PLACE_BITS - CELL_BITS - zoom)
    let kept = 0
    let current = -1
    for (const i of winners) {
      const at = Math.floor((places[i] as number) / cell)
      if (at !== current) {
        current = at
        winners[kept++] = i
      } else if (lot(fids[i] as number) > lot(fids[winners[kept - 1] as number] as number)) {
        zooms[fids[winners[kept - 1] as number] as number] = zoom + 1
        winners[kept - 1] = i
      } else zooms[fids[i] as number] = zoom + 1
    }
    winners = winners.subarray(0, kept)
  }
  return distances
}

/** A number that says nothing of the feature, the same in every build. */
export function lot(fid: number): number {
  return Math.imul(Math.imul(fid, 0x9e3779b1) ^ (fid >>> 15), 0x85ebca6b) >>> 0
}

/** A distance that most are larger than. */
function typical(distances: number[]): number {
  if (distances.length === 0) return Number.POSITIVE_INFINITY
  distances.sort((a, b) => a - b)
  return distances[Math.floor(distances.length / 4)] as number
}

/** The zoom at which vertices stand clear of one another, or a deeper one if that takes few tiles. */
export function chosenMaxZoom({ spacing, box, count }: Survey): number {
  if (box === null) return 0
  const clear = Math.ceil(Math.log2(UNITS_BETWEEN / (spacing * EXTENT)))
  let zoom = Number.isFinite(clear) ? Math.max(0, Math.min(MAX_CHOSEN_ZOOM, clear)) : 0
  const width = worldX(box[2]) - worldX(box[0])
  const height = worldY(box[1]) - worldY(box[3])
  const tilesAt = (z: number) => Math.min((width * 2 ** z + 1) * (height * 2 ** z + 1), count === 1 ? Infinity : 4 ** z)
  while (zoom < MAX_CHOSEN_ZOOM && tilesAt(zoom + 1) <= CHEAP_TILES) zoom++
  return zoom
}
