import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { VectorLayer } from '@gateway/contracts/basemap.js'
import { type NumberedTile, writeSortedPmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { zxyToTileId } from 'pmtiles'
import { visitGeometry } from '../index-file/geopackage-geometry.js'
import { INDEX_FILE, type IndexDescription, type IndexField } from '../index-file/index-description.js'
import { cleanPolygon } from './clean-polygon.js'
import { add, type Box, clipLine, clipPoints, clipRing, isIn, type Path } from './clip.js'
import { encodeTile, type Tags, type TileFeature } from './encode.js'
import { BUFFER, EXTENT, latitudeOf, longitudeOf, worldX, worldY } from './grid.js'
import { chosenMaxZoom, LINE, lot, POINT, POLYGON, type Survey, survey } from './survey.js'

export const TILES_FILE = 'tiles.pmtiles'

/** Limit: bytes of a tile, compressed. */
export const MAX_TILE_BYTES = 500_000

/** Limit: features of a tile. */
export const MAX_TILE_FEATURES = 200_000

/** Features that are held at a time; a part of the map with more is divided into four. */
const HELD_FEATURES = 20_000

/** Above the deepest zoom, vertices are put on a grid so much coarser than the tile's: a quarter of a pixel of a tile of 256. */
const COARSE = 4

/** Units along the side of a square: a polygon that is smaller is not drawn, but such squares for so many of them as cover it. */
const SPECK = 8

export interface TilesTask {
  /** the folder of index.gpkg, in which tiles.pmtiles is written */
  readonly folder: string
  readonly description: IndexDescription
  readonly name: string
  /** null: chosen by the density of the data */
  readonly minZoom: number | null
  readonly maxZoom: number | null
}

export interface BuiltTiles {
  readonly minZoom: number
  readonly maxZoom: number
  /** features that no tile of a zoom shows, by zoom, where there are some */
  readonly leftOut: Readonly<Record<string, number>>
  readonly vectorLayers: readonly VectorLayer[]
  readonly bytes: number
}

/** Writes the tiles of an index. null: no feature has a geometry that a tile can show. */
export async function buildTiles(task: TilesTask, onTile: () => void = () => {}): Promise<BuiltTiles | null> {
  const db = new DatabaseSync(join(task.folder, INDEX_FILE), { readOnly: true })
  try {
    const known = survey(db)
    if (known.count === 0 || known.box === null) return null
    const maxZoom = task.maxZoom ?? Math.max(chosenMaxZoom(known), task.minZoom ?? 0)
    const minZoom = Math.min(task.minZoom ?? 0, maxZoom)
    const vectorLayers = layersOf(task.description, minZoom, maxZoom)
    const generator = new Generator(db, known, task.description, maxZoom)
    const tiles = function* () {
      for (let zoom = minZoom; zoom <= maxZoom; zoom++) {
        for (const tile of generator.zoom(zoom)) {
          onTile()
          yield tile
        }
      }
    }
    const bounds = task.description.bounds ?? [-180, -85, 180, 85]
    const written = await writeSortedPmtiles(
      join(task.folder, TILES_FILE),
      tiles(),
      { format: 'pbf', encoding: 'gzip', bounds, metadata: { name: task.name, vector_layers: vectorLayers } },
      { expected: expectedTiles(known, maxZoom) },
    )
    return { minZoom, maxZoom, leftOut: generator.leftOut, vectorLayers, bytes: written.bytes }
  } finally {
    db.close()
  }
}

/** How many tiles there may be at the most; the size of leaf directories depends on it. */
function expectedTiles({ box }: Survey, maxZoom: number): number {
  const [west, south, east, north] = box ?? [-180, -85, 180, 85]
  let tiles = 0
  for (let zoom = 0; zoom <= maxZoom; zoom++) {
    const side = 2 ** zoom
    const columns = Math.min(side, Math.ceil((worldX(east) - worldX(west)) * side) + 2)
    const rows = Math.min(side, Math.ceil((worldY(south) - worldY(north)) * side) + 2)
    tiles += columns * rows
  }
  return tiles
}

const FIELD_TYPES: Readonly<Record<IndexField['type'], string>> = {
  string: 'String',
  number: 'Number',
  integer: 'Number',
  boolean: 'Boolean',
  date: 'String',
  datetime: 'String',
  json: 'String',
}

function layersOf({ layers, fields }: IndexDescription, minzoom: number, maxzoom: number): VectorLayer[] {
  return layers
    .filter((layer) => layer.geometry_type !== null)
    .map(({ id }) => ({
      id,
      fields: Object.fromEntries(
        fields.filter((field) => field.layers.includes(id)).map(({ name, type }) => [name, FIELD_TYPES[type]]),
      ),
      minzoom,
      maxzoom,
    }))
}

/** A feature, of one type, in units of its zoom from the corner of the world. */
interface Shape {
  readonly fid: number
  readonly type: typeof POINT | typeof LINE | typeof POLYGON
  readonly paths: readonly Path[]
  readonly source: { readonly layer: string; readonly id: number | null; readonly tags: Tags }
}

type Row = { fid: number; geom: Uint8Array; layer: string; feature_id: string | null } & Record<string, unknown>

class Generator {
  readonly leftOut: Record<string, number> = {}
  readonly #known: Survey
  readonly #maxZoom: number
  readonly #fields: readonly IndexField[]
  readonly #find: ReturnType<DatabaseSyncInstance['prepare']>
  readonly #read: ReturnType<DatabaseSyncInstance['prepare']>
  readonly #hasUniqueIds: boolean
  /** by how many worlds features are moved, since some lie beyond the antimeridian */
  readonly #worlds: readonly number[]
  #shown: Uint8Array

  constructor(db: DatabaseSyncInstance, known: Survey, { fields }: IndexDescription, maxZoom: number) {
    this.#known = known
    this.#maxZoom = maxZoom
    this.#fields = fields
    this.#find = db.prepare(
      'SELECT id, minx, miny, maxx, maxy FROM rtree_features_geom WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ? LIMIT ?',
    )
    this.#read = db.prepare('SELECT * FROM features WHERE fid = ?')
    this.#hasUniqueIds =
      db
        .prepare('SELECT 1 FROM features WHERE feature_id IS NOT NULL GROUP BY feature_id HAVING count(*) > 1 LIMIT 1')
        .get() === undefined
    const [west, , east] = known.box ?? [0, 0, 0, 0]
    const worlds = [0]
    for (let n = 1; west + 360 * n < 180 && west < -180 - 360 * (n - 1); n++) worlds.push(n)
    for (let n = 1; east > 180 + 360 * (n - 1); n++) worlds.push(-n)
    this.#worlds = worlds
    this.#shown = new Uint8Array(known.last + 1)
  }

  *zoom(zoom: number): Generator2 {
    this.#shown = new Uint8Array(this.#known.last + 1)
    yield* this.#part(zoom, 0, 0, 0)
    let shown = 0
    for (const one of this.#shown) shown += one
    const leftOut = this.#known.count - shown
    if (leftOut > 0) this.leftOut[String(zoom)] = leftOut
  }

  /** The tiles of a zoom in a tile of an upper one, in the order of their numbers. */
  *#part(zoom: number, z: number, x: number, y: number): Generator2 {
    const found = this.#candidates(z, x, y, zoom, z === zoom ? -1 : HELD_FEATURES + 1)
    if (found.length === 0) return
    if (z < zoom && found.length > HELD_FEATURES) {
      for (const [childX, childY] of children(z, x, y)) yield* this.#part(zoom, z + 1, childX, childY)
      return
    }
    const shapes: Shape[] = []
    const box = boxOf(zoom, z, x, y)
    for (const { fid, shift } of this.#chosen(found, zoom)) this.#shape(fid, shift, zoom, box, shapes)
    if (zoom < this.#maxZoom) this.#specks(found, zoom, z, x, y, shapes)
    yield* this.#divide(shapes, zoom, z, x, y)
  }

  *#divide(shapes: readonly Shape[], zoom: number, z: number, x: number, y: number): Generator2 {
    if (shapes.length === 0) return
    if (z === zoom) {
      const data = this.#tile(shapes, x, y)
      if (data !== null) yield { tileId: zxyToTileId(z, x, y), data }
      return
    }
    for (const [childX, childY] of children(z, x, y)) {
      const box = boxOf(zoom, z + 1, childX, childY)
      const inside = shapes.flatMap((shape) => clipped(shape, box) ?? [])
      yield* this.#divide(inside, zoom, z + 1, childX, childY)
    }
  }

  /** Features whose boxes touch a tile, but those too small for its zoom. @param limit -1: none */
  #candidates(z: number, x: number, y: number, zoom: number, limit: number): Candidate[] {
    const side = 2 ** z
    const margin = BUFFER / (EXTENT * 2 ** zoom)
    const north = latitudeOf(Math.max(0, y / side - margin))
    const south = latitudeOf(Math.min(1, (y + 1) / side + margin))
    const { kinds, zooms } = this.#known
    const found: Candidate[] = []
    for (const shift of this.#worlds) {
      const west = longitudeOf(x / side - margin - shift)
      const east = longitudeOf((x + 1) / side + margin - shift)
      // The rows at the edge of the world have all that lies beyond it.
      const rows = this.#find.all(
        west,
        east,
        y + 1 === side ? -91 : south,
        y === 0 ? 91 : north,
        limit,
      ) as unknown as TreeRow[]
      for (const { id: fid, minx, miny, maxx, maxy } of rows) {
        const isPoint = kinds[fid] === POINT
        if (isPoint && zoom < this.#maxZoom && (zooms[fid] as number) > zoom) continue
        found.push({ fid, shift, box: [minx, miny, maxx, maxy] })
      }
      if (limit >= 0 && rows.length >= limit) {
        // Whether it is divided depends on what is in it, whatever of that is drawn.
        while (found.length <= HELD_FEATURES) found.push({ fid: 0, shift: 0, box: [0, 0, 0, 0] })
        break
      }
    }
    return found
  }

  /** Of features that are drawn as they are, the largest. */
  #chosen(found: readonly Candidate[], zoom: number): readonly Candidate[] {
    const drawn = zoom === this.#maxZoom ? found : found.filter((one) => !this.#isSpeck(one, zoom))
    if (drawn.length <= MAX_TILE_FEATURES) return [...drawn].sort((a, b) => a.fid - b.fid)
    const { sizes } = this.#known
    return [...drawn]
      .sort((a, b) => (sizes[b.fid] as number) - (sizes[a.fid] as number) || lot(b.fid) - lot(a.fid))
      .slice(0, MAX_TILE_FEATURES)
  }

  #isSpeck({ fid, box }: Candidate, zoom: number): boolean {
    const { kinds } = this.#known
    if (kinds[fid] !== POLYGON) return false
    const unit = 1 / (EXTENT * 2 ** zoom)
    const [west, south, east, north] = box
    return worldX(east) - worldX(west) < SPECK * unit && worldY(south) - worldY(north) < SPECK * unit
  }

  /** Draws a square for so many polygons as cover one together: a town stays visible when its houses are too small. */
  #specks(found: readonly Candidate[], zoom: number, z: number, x: number, y: number, shapes: Shape[]): void {
    const units = EXTENT * 2 ** zoom
    const side = 2 ** z
    let covered = 0
    for (const one of [...found].sort((a, b) => a.fid - b.fid)) {
      if (!this.#isSpeck(one, zoom)) continue
      const [west, south, east, north] = one.box
      const middleX = (worldX(west) + worldX(east)) / 2 + one.shift
      const middleY = (worldY(south) + worldY(north)) / 2
      if (Math.floor(middleX * side) !== x || Math.floor(middleY * side) !== y) continue
      covered += (this.#known.sizes[one.fid] as number) * units * units
      if (covered < SPECK * SPECK) continue
      covered %= SPECK * SPECK
      const left = Math.floor((middleX * units) / COARSE) * COARSE - SPECK / 2
      const top = Math.floor((middleY * units) / COARSE) * COARSE - SPECK / 2
      const square = [left, top, left + SPECK, top, left + SPECK, top + SPECK, left, top + SPECK]
      const row = this.#row(one.fid)
      if (row !== null) shapes.push({ fid: one.fid, type: POLYGON, paths: [square], source: this.#sourceOf(row) })
    }
  }

  #row(fid: number): Row | null {
    return (this.#read.get(fid) as Row | undefined) ?? null
  }

  #sourceOf(row: Row): Shape['source'] {
    const tags = new Map<string, string | number | boolean>()
    for (const { name, column, type } of this.#fields) {
      const value = row[column]
      if (value === null || value === undefined) continue
      if (type === 'boolean') tags.set(name, Number(value) !== 0)
      else tags.set(name, typeof value === 'number' || typeof value === 'string' ? value : String(value))
    }
    return { layer: row.layer, id: this.#idOf(row), tags }
  }

  /** Its own where that is a whole number, else its number in the index where it has none. */
  #idOf({ fid, feature_id: own }: Row): number | null {
    if (own === null) return fid
    if (!this.#hasUniqueIds) return fid
    return /^\d{1,15}$/.test(own) ? Number(own) : null
  }

  /** Adds a feature on the grid of a zoom, cut to a box: a shape for each type that it has. */
  #shape(fid: number, shift: number, zoom: number, box: Box, shapes: Shape[]): void {
    const row = this.#row(fid)
    if (row === null || this.#known.kinds[fid] === 0) return
    const isLast = zoom === this.#maxZoom
    const cell = isLast ? 1 : COARSE
    const scale = (EXTENT * 2 ** zoom) / cell
    const points: Path = []
    const lines: Path[] = []
    const rings: Path[] = []
    const path = (coordinates: Float64Array, size: number): Path => {
      const placed: Path = []
      for (let i = 0; i + 1 < coordinates.length; i += size) {
        const x = Math.round((worldX(coordinates[i] as number) + shift) * scale) * cell
        const y = Math.round(worldY(coordinates[i + 1] as number) * scale) * cell
        add(placed, x, y)
      }
      return placed
    }
    visitGeometry(row.geom, {
      points: (coordinates, size) => {
        if (!Number.isNaN(coordinates[0] as number)) points.push(...path(coordinates, size))
      },
      line: (coordinates, size) => {
        const line = path(coordinates, size)
        if (line.length > 2) lines.push(line)
        // At the last zoom nothing is left out.
        else if (isLast && coordinates.length >= 2 * size) lines.push([line[0]!, line[1]!, line[0]! + 1, line[1]!])
      },
      ring: (coordinates, size) => {
        const ring = path(coordinates, size)
        const isClosed = ring[0] === ring.at(-2) && ring[1] === ring.at(-1)
        if (isClosed) ring.length -= 2
        if (ring.length >= 6) rings.push(ring)
      },
    })
    const source = this.#sourceOf(row)
    if (isLast && rings.length === 0 && this.#known.kinds[fid] === POLYGON) {
      const corner = cornerOf(row.geom, path)
      if (corner !== null) rings.push(corner)
    }
    for (const [type, paths] of [
      [POINT, points.length === 0 ? [] : [points]],
      [LINE, lines],
      [POLYGON, rings],
    ] as const) {
      if (paths.length === 0) continue
      const inside = clipped({ fid, type, paths, source }, box)
      if (inside !== null) shapes.push(inside)
    }
  }

  /** A tile within its limits; null: it is empty. */
  #tile(shapes: readonly Shape[], x: number, y: number): Buffer | null {
    let ready = shapes.flatMap((shape) => this.#placed(shape, x * EXTENT, y * EXTENT) ?? [])
    if (ready.length > MAX_TILE_FEATURES) ready = this.#largest(ready, MAX_TILE_FEATURES)
    while (ready.length > 0) {
      const data = gzipSync(encodeTile(ready.map(({ feature }) => feature)))
      if (data.length <= MAX_TILE_BYTES) {
        for (const { fid } of ready) this.#shown[fid] = 1
        return data
      }
      ready = this.#largest(ready, Math.floor((ready.length * MAX_TILE_BYTES * 0.9) / data.length))
    }
    return null
  }

  /** The largest ones; points by lot, which thins them evenly. */
  #largest(placed: readonly Placed[], count: number): Placed[] {
    const { sizes } = this.#known
    const ordered = placed.map((one, i) => ({ one, i }))
    ordered.sort((a, b) => {
      const bySize = (sizes[b.one.fid] as number) - (sizes[a.one.fid] as number)
      return bySize !== 0 ? bySize : lot(b.one.fid) - lot(a.one.fid)
    })
    const kept = ordered.slice(0, count).sort((a, b) => a.i - b.i)
    return kept.map(({ one }) => one)
  }

  /** A shape as a tile has it, from its corner; null: nothing of it is left. */
  #placed({ fid, type, paths, source }: Shape, left: number, top: number): Placed | null {
    const moved = paths.map((path) => {
      const own: Path = new Array(path.length)
      for (let i = 0; i < path.length; i += 2) {
        own[i] = (path[i] as number) - left
        own[i + 1] = (path[i + 1] as number) - top
      }
      return own
    })
    const final = type === POLYGON ? cleanPolygon(moved).flat() : moved
    if (final.length === 0) return null
    return { fid, feature: { ...source, type, paths: final } }
  }
}

type Generator2 = IterableIterator<NumberedTile>

interface TreeRow {
  readonly id: number
  readonly minx: number
  readonly miny: number
  readonly maxx: number
  readonly maxy: number
}

interface Candidate {
  readonly fid: number
  readonly shift: number
  readonly box: readonly [number, number, number, number]
}

interface Placed {
  readonly fid: number
  readonly feature: TileFeature
}

/** The four tiles below one, in the order of their numbers. */
function children(z: number, x: number, y: number): readonly (readonly [number, number])[] {
  const four = [
    [2 * x, 2 * y],
    [2 * x + 1, 2 * y],
    [2 * x, 2 * y + 1],
    [2 * x + 1, 2 * y + 1],
  ] as const
  return [...four].sort((a, b) => zxyToTileId(z + 1, a[0], a[1]) - zxyToTileId(z + 1, b[0], b[1]))
}

/** A tile of an upper zoom with its buffer, in units of a zoom. */
function boxOf(zoom: number, z: number, x: number, y: number): Box {
  const side = EXTENT * 2 ** (zoom - z)
  return {
    minX: x * side - BUFFER,
    minY: y * side - BUFFER,
    maxX: (x + 1) * side + BUFFER,
    maxY: (y + 1) * side + BUFFER,
  }
}

function clipped(shape: Shape, box: Box): Shape | null {
  const { type, paths } = shape
  if (paths.every((path) => isIn(path, box))) return shape
  const inside: Path[] = []
  for (const path of paths) {
    if (type === LINE) inside.push(...clipLine(path, box))
    else {
      const part = type === POINT ? clipPoints(path, box) : clipRing(path, box)
      if (part.length >= (type === POINT ? 2 : 6)) inside.push(part)
    }
  }
  return inside.length === 0 ? null : { ...shape, paths: inside }
}

/** A polygon of one unit where a polygon is. */
function cornerOf(geom: Uint8Array, path: (coordinates: Float64Array, size: number) => Path): Path | null {
  let corner: Path | null = null
  const none = () => {}
  visitGeometry(geom, {
    points: none,
    line: none,
    ring: (coordinates, size) => {
      const [x, y] = path(coordinates, size)
      if (corner === null && x !== undefined && y !== undefined) corner = [x, y, x + 1, y, x + 1, y + 1, x, y + 1]
    },
  })
  return corner
}
