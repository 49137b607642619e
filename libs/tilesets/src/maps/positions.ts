import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Zone, zoneOf } from '../gauss-krueger.js'

/** A system of coordinates, as pictures and grids use it: metres of Web Mercator, degrees, or the EPSG code of a Gauss-Kruger zone. */
export type PlaneSystem = 'mercator' | 'geographic' | number

/** A picture of a map. */
export interface Picture {
  readonly system: Exclude<PlaneSystem, number>
  /** in units of the system, easting first */
  readonly bounds: Bounds
  readonly width: number
  readonly height: number
}

/** One zoom of a grid of tiles. */
export interface TileGrid {
  readonly system: PlaneSystem
  /** easting and northing of the grid's upper left corner */
  readonly left: number
  readonly top: number
  /** units of the system per pixel */
  readonly cellSize: number
  /** pixels of a tile's side */
  readonly tileSize: number
}

/** The positions of a picture's pixels in a grid, in pixels of the grid. The centre of the grid's first pixel, in its upper left corner, is at 0. */
export interface Positions {
  /** all positions lie between these; some of them may lie outside of the grid */
  readonly box: Bounds
  /** true if `u` is the same in every row, and `v` the same in all of a row */
  readonly isUpright: boolean
  /** Fills `u` and `v` with the positions of a row's pixels. A pixel outside of the grid's system gets a position outside of the grid. */
  row(index: number, u: Float64Array, v: Float64Array): void
}

/** Maximum number of turns that one picture shows. */
const MAX_TURNS = 8
/** Radius of the sphere of Web Mercator in metres. */
const RADIUS = 6378137
const DEGREE = Math.PI / 180
/** A position outside of every grid; its negative too. */
const OUTSIDE = -1e12
/** Places of a picture's side whose positions are computed to find the box of all, and the part of the box by which others may exceed it. */
const SIDE_PLACES = 16
const BULGE = 0.02
/** Pixels between two exact positions in a zone, between which positions are interpolated: the error is below a hundredth of a pixel. */
const STEP = 16

const longitude = { mercator: (x: number) => x / RADIUS / DEGREE, geographic: (x: number) => x }
const latitude = { mercator: (y: number) => Math.atan(Math.sinh(y / RADIUS)) / DEGREE, geographic: (y: number) => y }

function easting(system: Picture['system'], degrees: number): number {
  return system === 'mercator' ? degrees * DEGREE * RADIUS : degrees
}

function northing(system: Picture['system'], degrees: number): number {
  if (system === 'geographic') return degrees
  if (Math.abs(degrees) >= 90) return degrees * Number.POSITIVE_INFINITY
  return Math.asinh(Math.tan(degrees * DEGREE)) * RADIUS
}

/** Converts bounds in degrees to a system of pictures. */
export function boundsIn(system: Picture['system'], [west, south, east, north]: Bounds): Bounds {
  return [easting(system, west), northing(system, south), easting(system, east), northing(system, north)]
}

/**
 * Returns the turns round the earth of which a picture shows a part: 0 for longitudes from -180 to 180, 1 for those that follow in the east. A picture with
 * more than `MAX_TURNS` shows only the first one.
 */
export function turnsOf({ system, bounds: [west, , east] }: Pick<Picture, 'system' | 'bounds'>): readonly number[] {
  const turn = easting(system, 360)
  const [first, last] = [Math.floor(west / turn + 0.5), Math.ceil(east / turn - 0.5)]
  return last - first < MAX_TURNS ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : [0]
}

export function positionsOf(picture: Picture, grid: TileGrid): Positions {
  return typeof grid.system === 'number'
    ? positionsInZone(picture, grid, zoneOf(grid.system))
    : positionsOfAxes(picture, grid, grid.system)
}

/** Between Web Mercator and degrees, the column depends only on the easting, and the row only on the northing. */
function positionsOfAxes(
  { system, bounds: [west, south, east, north], width, height }: Picture,
  grid: TileGrid,
  to: Picture['system'],
): Positions {
  const toX = system === to ? (x: number) => x : (x: number) => easting(to, longitude[system](x))
  const toY = system === to ? (y: number) => y : (y: number) => northing(to, latitude[system](y))
  const columns = Float64Array.from({ length: width }, (_, i) => {
    return (toX(west + ((east - west) * (i + 0.5)) / width) - grid.left) / grid.cellSize - 0.5
  })
  const rowAt = (index: number) => {
    const y = toY(north - ((north - south) * (index + 0.5)) / height)
    return Math.min(-OUTSIDE, Math.max(OUTSIDE, (grid.top - y) / grid.cellSize - 0.5))
  }
  return {
    isUpright: true,
    box: [columns[0] as number, rowAt(0), columns[width - 1] as number, rowAt(height - 1)],
    row(index, u, v) {
      u.set(columns)
      v.fill(rowAt(index))
    },
  }
}

function positionsInZone(picture: Picture, grid: TileGrid, zone: Zone): Positions {
  const { width, height } = picture
  const columns = Math.ceil(width / STEP) + 1
  /** rows of exact positions by their index, of which two are used at a time */
  const known = new Map<number, { u: Float64Array; v: Float64Array }>()
  const exact = (at: number) => {
    const found = known.get(at)
    if (found !== undefined) return found
    for (const other of known.keys()) if (other < at - 1) known.delete(other)
    const made = { u: new Float64Array(columns), v: new Float64Array(columns) }
    for (let i = 0; i < columns; i++) {
      const [u, v] = pointInZone(picture, grid, zone, i * STEP, Math.min(at * STEP, height))
      made.u[i] = u
      made.v[i] = v
    }
    known.set(at, made)
    return made
  }
  return {
    isUpright: false,
    box: boxInZone(picture, grid, zone),
    row(index, u, v) {
      const at = Math.floor(index / STEP)
      const [above, below] = [exact(at), exact(at + 1)]
      const span = Math.min((at + 1) * STEP, height) - at * STEP
      const down = span === 0 ? 0 : (index - at * STEP) / span
      for (let i = 0; i < width; i++) {
        const j = Math.floor(i / STEP)
        const across = i / STEP - j
        u[i] = between(above.u, below.u, j, across, down)
        v[i] = between(above.v, below.v, j, across, down)
      }
    },
  }
}

/** Interpolates between four positions; outside, if one of them is. */
function between(above: Float64Array, below: Float64Array, j: number, across: number, down: number): number {
  const [a, b, c, d] = [above[j], above[j + 1], below[j], below[j + 1]] as [number, number, number, number]
  if (a === OUTSIDE || b === OUTSIDE || c === OUTSIDE || d === OUTSIDE) return OUTSIDE
  return (a * (1 - across) + b * across) * (1 - down) + (c * (1 - across) + d * across) * down
}

function boxInZone(picture: Picture, grid: TileGrid, zone: Zone): Bounds {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i <= SIDE_PLACES; i++) {
    for (let j = 0; j <= SIDE_PLACES; j++) {
      const [column, row] = [(picture.width - 1) * (i / SIDE_PLACES), (picture.height - 1) * (j / SIDE_PLACES)]
      const [u, v] = positionIn(grid, zone, placeOf(picture, column, row))
      box[0] = Math.min(box[0], u)
      box[1] = Math.min(box[1], v)
      box[2] = Math.max(box[2], u)
      box[3] = Math.max(box[3], v)
    }
  }
  const [across, down] = [(box[2] - box[0]) * BULGE, (box[3] - box[1]) * BULGE]
  return [box[0] - across, box[1] - down, box[2] + across, box[3] + down]
}

function pointInZone(
  picture: Picture,
  grid: TileGrid,
  zone: Zone,
  column: number,
  row: number,
): readonly [u: number, v: number] {
  const place = placeOf(picture, column, row)
  const [lon, lat] = place
  const [left, bottom, right, top] = zone.world
  const isInside = lon >= left && lon <= right && lat >= bottom && lat <= top
  return isInside ? positionIn(grid, zone, place) : [OUTSIDE, OUTSIDE]
}

/** Returns the position of a place in degrees, or of the nearest place of the zone. */
function positionIn(grid: TileGrid, zone: Zone, [lon, lat]: readonly [number, number]): readonly [number, number] {
  const [left, bottom, right, top] = zone.world
  const [x = 0, y = 0] = zone.point(Math.min(right, Math.max(left, lon)), Math.min(top, Math.max(bottom, lat)))
  return [(x - grid.left) / grid.cellSize - 0.5, (grid.top - y) / grid.cellSize - 0.5]
}

/** Returns the longitude and the latitude of the middle of a pixel, or of a place between pixels. */
export function placeOf({ system, bounds, width, height }: Picture, column: number, row: number): [number, number] {
  const [west, south, east, north] = bounds
  return [
    longitude[system](west + ((east - west) * (column + 0.5)) / width),
    latitude[system](north - ((north - south) * (row + 0.5)) / height),
  ]
}
