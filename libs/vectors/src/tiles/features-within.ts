import { PbfReader, PbfWriter } from 'pbf'
import { readCommands } from './commands.js'

type TileArea = readonly [left: number, top: number, right: number, bottom: number]

/** Field numbers of Mapbox Vector Tile 2.1, section 4. */
const LAYER = 3
const LAYER_FIELDS = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const
const FEATURE_FIELDS = { tags: 2, type: 3, geometry: 4 } as const
const DEFAULT_EXTENT = 4096
/** Types of fields in protocol buffers. */
const VARINT = 0
const BYTES = 2
/** Number of features after which other work gets its turn: some milliseconds. */
const FEATURES_IN_A_ROW = 2_000

interface Layer {
  name: Uint8Array | null
  version: number
  extent: number
  readonly features: Uint8Array[]
  readonly keys: Uint8Array[]
  readonly values: Uint8Array[]
}

/**
 * Returns a Mapbox Vector Tile with only those features that share a point with an area, unchanged, and without the names and values that only the
 * others have. Returns null if no feature is left. Features of an unknown type, and fields that the standard does not know, are left out. Throws if
 * the tile is not valid.
 * @param area boxes (least x, least y, most x, most y) in units of the tile, where 0 and 1 are its edges
 * @param takeTurn is called between parts of the work
 */
export async function featuresWithin(
  tile: Uint8Array,
  area: readonly TileArea[],
  takeTurn: () => Promise<unknown>,
): Promise<Uint8Array | null> {
  const out = new PbfWriter()
  let seen = 0
  let left = 0
  for (const bytes of layersOf(tile)) {
    const layer = readLayer(bytes)
    const scaled = area.map((part) => part.map((side) => side * layer.extent) as unknown as TileArea)
    const kept: Uint8Array[] = []
    for (const feature of layer.features) {
      if (++seen % FEATURES_IN_A_ROW === 0) await takeTurn()
      if (touches(feature, scaled)) kept.push(feature)
    }
    if (kept.length === 0) continue
    left += kept.length
    out.writeMessage(LAYER, writeLayer, { layer, kept })
  }
  return left === 0 ? null : out.finish()
}

/** Returns the names of the layers of a tile. Throws if the tile is not valid. */
export function layerNames(tile: Uint8Array): readonly string[] {
  const read = (tag: number, found: { name: string }, pbf: PbfReader) => {
    if (tag === LAYER_FIELDS.name) found.name = pbf.readString()
  }
  return layersOf(tile).map((layer) => new StrictReader(layer).readFields(read, { name: '' }).name)
}

function layersOf(tile: Uint8Array): readonly Uint8Array[] {
  const read = (tag: number, layers: Uint8Array[], pbf: PbfReader) => {
    if (tag === LAYER) layers.push(pbf.readBytes())
  }
  return new StrictReader(tile).readFields(read, [])
}

/** A reader that throws if a field ends behind the bytes, which the library continues with numbers out of nothing. */
class StrictReader extends PbfReader {
  override readBytes(): Uint8Array {
    if (this.type !== BYTES) throw new Error('a field of a vector tile has another type')
    const read = super.readBytes()
    if (this.pos > this.length) throw new Error('a field ends behind the vector tile')
    return read
  }

  numbers(): number[] {
    const packed = new PbfReader(this.readBytes())
    const numbers: number[] = []
    while (packed.pos < packed.length) numbers.push(packed.readVarint())
    return numbers
  }
}

function readLayer(bytes: Uint8Array): Layer {
  const { name, feature, key, value, extent, version } = LAYER_FIELDS
  const layer: Layer = { name: null, version: 1, extent: DEFAULT_EXTENT, features: [], keys: [], values: [] }
  return new StrictReader(bytes).readFields((tag, into, pbf) => {
    if (tag === name) into.name = pbf.readBytes()
    else if (tag === feature) into.features.push(pbf.readBytes())
    else if (tag === key) into.keys.push(pbf.readBytes())
    else if (tag === value) into.values.push(pbf.readBytes())
    else if (tag === extent) into.extent = pbf.readVarint()
    else if (tag === version) into.version = pbf.readVarint()
  }, layer)
}

/** Numbers names or values in the order of their first use. */
class Used {
  readonly #all: readonly Uint8Array[]
  readonly #numbers = new Map<number, number>()
  constructor(all: readonly Uint8Array[]) {
    this.#all = all
  }

  numberOf(before: number): number {
    const known = this.#numbers.get(before)
    if (known !== undefined) return known
    if (this.#all[before] === undefined) throw new Error('a feature has a name or value that its layer lacks')
    const number = this.#numbers.size
    this.#numbers.set(before, number)
    return number
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (const before of this.#numbers.keys()) yield this.#all[before] as Uint8Array
  }
}

function writeLayer({ layer, kept }: { layer: Layer; kept: readonly Uint8Array[] }, out?: PbfWriter): void {
  const { name, feature, key, value, extent, version } = LAYER_FIELDS
  const to = out as PbfWriter
  to.writeVarintField(version, layer.version)
  if (layer.name !== null) to.writeBytesField(name, layer.name)
  to.writeVarintField(extent, layer.extent)
  const [keys, values] = [new Used(layer.keys), new Used(layer.values)]
  for (const one of kept) to.writeMessage(feature, writeFeature, { feature: one, keys, values })
  for (const one of keys) to.writeBytesField(key, one)
  for (const one of values) to.writeBytesField(value, one)
}

/** Copies the id, type and geometry of a feature, and numbers its tags by the names and values that are left. */
function writeFeature(
  { feature, keys, values }: { feature: Uint8Array; keys: Used; values: Used },
  out?: PbfWriter,
): void {
  const to = out as PbfWriter
  const reader = new StrictReader(feature)
  reader.readFields((tag) => {
    if (tag === FEATURE_FIELDS.tags) {
      const tags = reader.numbers().map((number, i) => (i % 2 === 0 ? keys : values).numberOf(number))
      to.writePackedVarint(tag, tags)
    } else if (tag === FEATURE_FIELDS.geometry) to.writeBytesField(tag, reader.readBytes())
    else if (reader.type === VARINT) {
      // As bytes, because an id may have 64 bits.
      const from = reader.pos
      reader.readVarint()
      to.writeTag(tag, VARINT)
      const bytes = feature.subarray(from, reader.pos)
      to.realloc(bytes.length)
      to.buf.set(bytes, to.pos)
      to.pos += bytes.length
    }
  }, null)
}

/** True if the geometry of a feature shares a point with a part of the area. */
function touches(feature: Uint8Array, area: readonly TileArea[]): boolean {
  const reader = new StrictReader(feature)
  const { type, commands } = reader.readFields(
    (tag, into) => {
      if (tag === FEATURE_FIELDS.type) into.type = reader.readVarint()
      else if (tag === FEATURE_FIELDS.geometry) into.commands = reader.numbers()
    },
    { type: 0, commands: [] as readonly number[] },
  )
  if (type < 1 || type > 3) return false
  const paths = readCommands(commands)
  return area.some((part) => {
    if (paths.some((path) => (type === 1 ? hasPoint(path, part) : crosses(path, type === 3, part)))) return true
    // No boundary comes into the part, so a polygon contains all of it or nothing.
    return type === 3 && isInside(paths, part[0], rowIn(part))
  })
}

/** A row of a part, whose sides at the ends of the world are infinite. */
function rowIn([, top, , bottom]: TileArea): number {
  return Number.isFinite(top) ? top : Number.isFinite(bottom) ? bottom : 0
}

function hasPoint(path: readonly number[], [left, top, right, bottom]: TileArea): boolean {
  for (let i = 0; i < path.length; i += 2) {
    const [x, y] = [path[i] as number, path[i + 1] as number]
    if (x >= left && x <= right && y >= top && y <= bottom) return true
  }
  return false
}

function crosses(path: readonly number[], isClosed: boolean, part: TileArea): boolean {
  const count = path.length
  if (count === 2) return hasPoint(path, part)
  for (let i = isClosed ? 0 : 2; i < count; i += 2) {
    const from = i === 0 ? count - 2 : i - 2
    const [x, y] = [path[i] as number, path[i + 1] as number]
    if (doesSegmentTouch(path[from] as number, path[from + 1] as number, x, y, part)) return true
  }
  return false
}

/** The algorithm of Liang and Barsky: the part of the segment that lies between both pairs of sides. */
function doesSegmentTouch(x0: number, y0: number, x1: number, y1: number, part: TileArea): boolean {
  const [left, top, right, bottom] = part
  let from = 0
  let to = 1
  for (const [start, step, least, most] of [
    [x0, x1 - x0, left, right],
    [y0, y1 - y0, top, bottom],
  ] as const) {
    if (step === 0) {
      if (start < least || start > most) return false
      continue
    }
    const [one, other] = [(least - start) / step, (most - start) / step]
    from = Math.max(from, Math.min(one, other))
    to = Math.min(to, Math.max(one, other))
    if (from > to) return false
  }
  return true
}

/** True if a point lies inside of an odd number of rings. */
function isInside(rings: readonly (readonly number[])[], x: number, y: number): boolean {
  let inside = false
  for (const ring of rings)
    for (let i = 0, before = ring.length - 2; i < ring.length; before = i, i += 2) {
      const [x0, y0] = [ring[before] as number, ring[before + 1] as number]
      const [x1, y1] = [ring[i] as number, ring[i + 1] as number]
      if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside
    }
  return inside
}
