import { zxyToTileId } from 'pmtiles'
import { cleanPolygon, doubleArea } from './clean-polygon.js'
import { add, type Box, clipLine, clipPoints, clipRing, isIn, type Path } from './clip.js'
import { writeCommands } from './commands.js'
import {
  BOX_AT,
  ID_AT as FEATURE_ID_AT,
  FeatureFileReader,
  FIXED_WORDS,
  PART_LINE,
  PART_POINTS,
} from './feature-file.js'
import { BUFFER, EXTENT } from './grid.js'
import { LINE, POINT, POLYGON, type Survey } from './survey.js'
import { COMMANDS_AT, ID_AT, RECORD_HEAD, SIZE_AT, TAG_WORDS_AT } from './tile-records.js'
import type { TileSorter } from './tile-sorter.js'

/** Factor by which the grid of vertices is coarser than the tile's, above the deepest zoom: a quarter of a pixel of a tile of 256. */
const COARSE = 4

/** Side of a square in units. Smaller polygons are not drawn; instead, some of them are drawn as squares that cover the same total area. */
const SPECK = 8

type KnownFeatures = Pick<Survey, 'last' | 'kinds' | 'sizes' | 'sides' | 'zooms' | 'polygons' | 'layers'>

/** Writes all features of a zoom into its tiles. */
export class ZoomPass {
  readonly #known: KnownFeatures
  readonly #sorter: TileSorter
  readonly #zoom: number
  readonly #isLast: boolean
  /** units along the side of the world */
  readonly #units: number
  /** true for the specks that are drawn, by fid */
  readonly #squares: Uint8Array | null
  readonly #commands: number[] = []
  #reader!: FeatureFileReader
  /** tile of the last record: neighbours in the file are mostly in one tile */
  #lastX = -1
  #lastY = -1
  #lastId = 0

  constructor(known: KnownFeatures, sorter: TileSorter, zoom: number, isLast: boolean) {
    this.#known = known
    this.#sorter = sorter
    this.#zoom = zoom
    this.#isLast = isLast
    this.#units = EXTENT * 2 ** zoom
    this.#squares = isLast ? null : squares(known, this.#units)
  }

  /** @param onFeature called from time to time */
  run(file: string, onFeature: () => void): void {
    const reader = new FeatureFileReader(file)
    this.#reader = reader
    try {
      for (let n = 0; reader.next(); n++) {
        this.#feature()
        if (n % 1024 === 0) onFeature()
      }
    } finally {
      reader.close()
    }
  }

  #feature(): void {
    const { words, doubles, at } = this.#reader
    const fid = words[at + 1] as number
    const kind = words[at + 3] as number
    const { zooms } = this.#known
    if (kind === POINT && !this.#isLast && (zooms[fid] as number) > this.#zoom) return
    const left = doubles[at / 2 + BOX_AT] as number
    const right = doubles[at / 2 + BOX_AT + 2] as number
    // Features beyond the antimeridian are also drawn one world further.
    const isOnSeam = left === right && Number.isInteger(left)
    for (let world = Math.floor(left) - (isOnSeam ? 1 : 0); world <= right; world++) {
      if (world === right && left < right) break
      if (kind === POLYGON && !this.#isLast && isSpeck(this.#known, fid, this.#units)) this.#speck(fid, world)
      else this.#parts(kind, world)
    }
  }

  #speck(fid: number, world: number): void {
    if (this.#squares?.[fid] !== 1) return
    const { doubles, at } = this.#reader
    const box = at / 2 + BOX_AT
    const middle = (axis: number) => ((doubles[box + axis] as number) + (doubles[box + axis + 2] as number)) / 2
    const place = (position: number) => Math.floor((position * this.#units) / COARSE) * COARSE - SPECK / 2
    const x = place(middle(0) - world)
    const y = place(middle(1))
    this.#divide(POLYGON, [[x, y, x + SPECK, y, x + SPECK, y + SPECK, x, y + SPECK]])
  }

  /** Puts the parts of a feature on the grid: one shape per type. */
  #parts(kind: number, world: number): void {
    const { words, doubles, at } = this.#reader
    const points: Path = []
    const lines: Path[] = []
    const rings: Path[] = []
    let next = at + FIXED_WORDS + (words[at + 5] as number)
    let corner: Path | null = null
    for (let part = words[at + 4] as number; part > 0; part--) {
      const type = words[next] as number
      const count = words[next + 1] as number
      const path = this.#snapped(doubles, next / 2 + 1, count, world)
      next += 2 + 4 * count
      if (type === PART_POINTS) points.push(path[0] as number, path[1] as number)
      else if (type === PART_LINE) {
        if (path.length > 2) lines.push(this.#isLast ? path : withoutBetween(path, false))
        // The last zoom leaves nothing out.
        else if (this.#isLast) lines.push([path[0]!, path[1]!, path[0]! + 1, path[1]!])
      } else {
        corner ??= cornerAt(path)
        if (path.length > 4 && path[0] === path.at(-2) && path[1] === path.at(-1)) path.length -= 2
        const ring = this.#isLast ? path : withoutBetween(path, true)
        if (ring.length >= 6) rings.push(ring)
      }
    }
    if (this.#isLast && kind === POLYGON && rings.length === 0 && corner !== null) rings.push(corner)
    if (points.length > 0) this.#divide(POINT, [points])
    if (lines.length > 0) this.#divide(LINE, lines)
    if (rings.length > 0) this.#divide(POLYGON, rings)
  }

  #snapped(doubles: Float64Array, first: number, count: number, world: number): Path {
    const cell = this.#isLast ? 1 : COARSE
    const scale = this.#units / cell
    const path: Path = []
    for (let i = first; i < first + 2 * count; i += 2) {
      const x = Math.round(((doubles[i] as number) - world) * scale) * cell
      const y = Math.round((doubles[i + 1] as number) * scale) * cell
      add(path, x, y)
    }
    return path
  }

  #divide(type: number, paths: readonly Path[]): void {
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const path of paths) {
      for (let i = 0; i < path.length; i += 2) {
        const x = path[i] as number
        const y = path[i + 1] as number
        if (x < minX) minX = x
        if (x > maxX) maxX = x
        if (y < minY) minY = y
        if (y > maxY) maxY = y
      }
    }
    const last = 2 ** this.#zoom - 1
    const first = (low: number) => Math.max(0, Math.floor((low - BUFFER) / EXTENT))
    const end = (high: number) => Math.min(last, Math.floor((high + BUFFER) / EXTENT))
    this.#range(type, paths, first(minX), first(minY), end(maxX), end(maxY))
  }

  /** Cuts paths into tiles by bisection, so that a feature over many tiles is not compared completely with each of them. */
  #range(type: number, paths: readonly Path[], minX: number, minY: number, maxX: number, maxY: number): void {
    if (paths.length === 0 || minX > maxX || minY > maxY) return
    if (minX === maxX && minY === maxY) this.#tile(type, paths, minX, minY)
    else if (maxX - minX >= maxY - minY) {
      const middle = Math.floor((minX + maxX) / 2)
      const edge = (middle + 1) * EXTENT
      this.#range(type, clipped(type, paths, { ...ENDLESS, maxX: edge + BUFFER }), minX, minY, middle, maxY)
      this.#range(type, clipped(type, paths, { ...ENDLESS, minX: edge - BUFFER }), middle + 1, minY, maxX, maxY)
    } else {
      const middle = Math.floor((minY + maxY) / 2)
      const edge = (middle + 1) * EXTENT
      this.#range(type, clipped(type, paths, { ...ENDLESS, maxY: edge + BUFFER }), minX, minY, maxX, middle)
      this.#range(type, clipped(type, paths, { ...ENDLESS, minY: edge - BUFFER }), minX, middle + 1, maxX, maxY)
    }
  }

  #tile(type: number, paths: readonly Path[], x: number, y: number): void {
    const left = x * EXTENT
    const top = y * EXTENT
    const box = { minX: left - BUFFER, minY: top - BUFFER, maxX: left + EXTENT + BUFFER, maxY: top + EXTENT + BUFFER }
    const moved = clipped(type, paths, box).map((path) => {
      const own: Path = []
      for (let i = 0; i < path.length; i += 2) own.push((path[i] as number) - left, (path[i + 1] as number) - top)
      return own
    })
    if (moved.length === 0) return
    const commands = this.#commands
    commands.length = 0
    if (type === POLYGON && coversTile(moved)) commands.push(...WHOLE_TILE)
    else writeCommands(type, type === POLYGON ? cleanPolygon(moved).flat() : moved, commands)
    if (commands.length > 0) this.#record(type, x, y)
  }

  #record(type: number, x: number, y: number): void {
    const { words: source, at } = this.#reader
    const tagWords = source[at + 5] as number
    const commands = this.#commands
    const size = RECORD_HEAD + tagWords + commands.length
    if (x !== this.#lastX || y !== this.#lastY) {
      this.#lastId = zxyToTileId(this.#zoom, x, y)
      this.#lastX = x
      this.#lastY = y
    }
    const to = this.#sorter.add(this.#lastId, size)
    const { words } = this.#sorter
    const fid = source[at + 1] as number
    words[to] = size
    words[to + 1] = fid
    words[to + 2] = source[at + 2] as number
    words[to + 3] = type
    SIZE[0] = this.#known.sizes[fid] as number
    words[to + SIZE_AT] = SIZE_WORD[0] as number
    words[to + ID_AT] = source[at + 2 * FEATURE_ID_AT] as number
    words[to + ID_AT + 1] = source[at + 2 * FEATURE_ID_AT + 1] as number
    words[to + TAG_WORDS_AT] = tagWords
    words[to + COMMANDS_AT] = commands.length
    words.set(source.subarray(at + FIXED_WORDS, at + FIXED_WORDS + tagWords), to + RECORD_HEAD)
    const first = to + RECORD_HEAD + tagWords
    for (let i = 0; i < commands.length; i++) words[first + i] = commands[i] as number
  }
}

const SIZE = new Float32Array(1)
const SIZE_WORD = new Int32Array(SIZE.buffer)

const ENDLESS: Box = { minX: -Infinity, minY: -Infinity, maxX: Infinity, maxY: Infinity }

function isSpeck({ sides }: KnownFeatures, fid: number, units: number): boolean {
  return (sides[fid] as number) * units < SPECK
}

/** Chooses specks of each layer so that their squares cover as much area as they do, everywhere on the map: a town stays visible when its houses are too small. */
function squares(known: KnownFeatures, units: number): Uint8Array {
  const { last, polygons, sizes, layers } = known
  const chosen = new Uint8Array(last + 1)
  // The first one is drawn: a small place is visible from far away.
  let covered = SPECK * SPECK
  let layer = -1
  for (const fid of polygons) {
    if (layers[fid] !== layer) covered = SPECK * SPECK
    layer = layers[fid] as number
    if (!isSpeck(known, fid, units)) continue
    covered += (sizes[fid] as number) * units * units
    if (covered < SPECK * SPECK) continue
    covered %= SPECK * SPECK
    chosen[fid] = 1
  }
  return chosen
}

function cornerAt([x, y]: Path): Path | null {
  return x === undefined || y === undefined ? null : [x, y, x + 1, y, x + 1, y + 1, x, y + 1]
}

/** The side of a tile with its buffer on both sides. */
const LOW = -BUFFER
const HIGH = EXTENT + BUFFER

/** The commands of a polygon that covers a tile. */
const WHOLE_TILE: readonly number[] = (() => {
  const commands: number[] = []
  writeCommands(POLYGON, cleanPolygon([[LOW, LOW, HIGH, LOW, HIGH, HIGH, LOW, HIGH]]).flat(), commands)
  return commands
})()

/**
 * True if a ring that was clipped to a tile encloses all of it: it runs along the tile's sides only, around them once. The inside of large polygons
 * has millions of such tiles.
 */
function coversTile([ring, ...others]: readonly Path[]): boolean {
  if (ring === undefined || others.length > 0) return false
  const isSide = (value: number) => value === LOW || value === HIGH
  for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
    const [ax, ay, bx, by] = [ring[j], ring[j + 1], ring[i], ring[i + 1]] as [number, number, number, number]
    if (!(ax === bx && isSide(ax)) && !(ay === by && isSide(ay))) return false
  }
  return Math.abs(doubleArea(ring)) === 2 * (HIGH - LOW) ** 2
}

/** Returns a path without the points on the straight line between their neighbours. */
function withoutBetween(path: Path, isRing: boolean): Path {
  const n = path.length
  if (n < 6) return path
  const kept: Path = []
  for (let i = 0; i < n; i += 2) {
    const x = path[i] as number
    const y = path[i + 1] as number
    const isEnd = !isRing && (i === 0 || i === n - 2)
    const from = kept.length === 0 ? n - 2 : kept.length - 2
    const before = kept.length === 0 ? path : kept
    const to = i + 2 === n ? 0 : i + 2
    const dx = x - (before[from] as number)
    const dy = y - (before[from + 1] as number)
    const nextX = (path[to] as number) - x
    const nextY = (path[to + 1] as number) - y
    if (isEnd || dx * nextY !== dy * nextX || dx * nextX + dy * nextY < 0) kept.push(x, y)
  }
  return kept
}

function clipped(type: number, paths: readonly Path[], box: Box): readonly Path[] {
  if (paths.every((path) => isIn(path, box))) return paths
  const inside: Path[] = []
  for (const path of paths) {
    if (type === LINE) inside.push(...clipLine(path, box))
    else {
      const part = type === POINT ? clipPoints(path, box) : clipRing(path, box)
      if (part.length >= (type === POINT ? 2 : 6)) inside.push(part)
    }
  }
  return inside
}
