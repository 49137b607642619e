import { crc32, gzipSync, type ZlibOptions } from 'node:zlib'
import { ByteWriter, varintBytes } from './byte-writer.js'
import { cleanPolygon, withoutRepeats } from './clean-polygon.js'
import { isPolygon, readCommands, writeCommands } from './commands.js'
import { EXTENT } from './grid.js'
import { lot } from './survey.js'
import { COMMANDS_AT, ID_AT, RECORD_HEAD, SIZE_AT, TAG_WORDS_AT, type TileRecords } from './tile-records.js'
import { MAX_KNOWN_VALUES, UNKNOWN } from './values.js'

/** Maximum size of a compressed tile in bytes. */
export const MAX_TILE_BYTES = 500_000

/** Maximum number of features in a tile. */
const MAX_TILE_FEATURES = 200_000

/** Size up to which a tile is stored uncompressed: compression would save a few bytes and take longer than everything else. */
const STORED_BYTES = 80

/** Size up to which zlib uses less memory, which it clears for each tile. */
const SMALL_BYTES = 4_096
const SMALL: ZlibOptions = { memLevel: 4, windowBits: 12 }

/** Encodes the records of a tile. */
export class TilePacker {
  readonly #layers: readonly string[]
  readonly #fields: readonly string[]
  readonly #whole = new ByteWriter(1024 * 1024)
  readonly #layer = new ByteWriter(1024 * 1024)
  readonly #tags = new ByteWriter(4096)
  readonly #commands = new ByteWriter(64 * 1024)
  readonly #values = new ByteWriter(64 * 1024)
  /** the index of a known value in the current layer, valid if `#stamps` has the number of that layer */
  readonly #numbers = new Uint32Array(MAX_KNOWN_VALUES)
  readonly #stamps = new Uint32Array(MAX_KNOWN_VALUES)
  readonly #keys: Int32Array
  readonly #idWords = new Int32Array(2)
  readonly #id = new Float64Array(this.#idWords.buffer)
  #stamp = 0

  constructor(layers: readonly string[], fields: readonly string[]) {
    this.#layers = layers
    this.#fields = fields
    this.#keys = new Int32Array(fields.length)
  }

  /** Returns the compressed tile within its limits, and the records that it contains. */
  pack({ words, offsets }: TileRecords): { data: Buffer; offsets: readonly number[] } | null {
    let chosen = largest(words, offsets, MAX_TILE_FEATURES)
    for (let coarseness = 1; chosen.length > 0; ) {
      const data = compressed(this.#encode(words, chosen, coarseness))
      if (data.length <= MAX_TILE_BYTES) return { data, offsets: chosen }
      // A single feature that is too large is drawn with less detail.
      if (chosen.length === 1 && coarseness < EXTENT) coarseness *= 2
      else chosen = largest(words, chosen, fewer(chosen.length, data.length))
    }
    return null
  }

  /** Encodes as Mapbox Vector Tile 2.1. */
  #encode(words: Int32Array, offsets: readonly number[], coarseness: number): Buffer {
    this.#whole.length = 0
    if (this.#layers.length === 1) this.#writeLayer(words, offsets, 0, coarseness)
    else {
      for (const [layer, own] of layersOf(words, offsets)) this.#writeLayer(words, own, layer, coarseness)
    }
    return this.#whole.written()
  }

  #writeLayer(words: Int32Array, offsets: readonly number[], number: number, coarseness: number): void {
    const layer = this.#layer
    const values = this.#values
    this.#stamp++
    this.#keys.fill(-1)
    layer.length = 0
    values.length = 0
    layer.varint(0x78)
    layer.varint(2)
    layer.varint(0x0a)
    layer.text(this.#layers[number] as string)
    layer.varint(0x28)
    layer.varint(EXTENT)
    const keys: number[] = []
    const counted = { values: 0 }
    for (const at of offsets) this.#writeFeature(words, at, keys, counted, coarseness)
    for (const key of keys) {
      layer.varint(0x1a)
      layer.text(this.#fields[key] as string)
    }
    layer.copy(values.bytes, 0, values.length)
    this.#whole.varint(0x1a)
    this.#whole.varint(layer.length)
    this.#whole.copy(layer.bytes, 0, layer.length)
  }

  #writeFeature(words: Int32Array, at: number, keys: number[], counted: { values: number }, coarseness: number): void {
    this.#idWords[0] = words[at + ID_AT] as number
    this.#idWords[1] = words[at + ID_AT + 1] as number
    const id = this.#id[0] as number
    const tagWords = words[at + TAG_WORDS_AT] as number
    const first = at + RECORD_HEAD + tagWords
    this.#readTags(words, at + RECORD_HEAD, keys, counted)
    this.#readCommands(words, first, first + (words[at + COMMANDS_AT] as number), coarseness)
    const tags = this.#tags
    const commands = this.#commands
    const idBytes = Number.isNaN(id) ? 0 : 1 + varintBytes(id)
    const tagBytes = tags.length === 0 ? 0 : 1 + varintBytes(tags.length) + tags.length
    const layer = this.#layer
    layer.varint(0x12)
    layer.varint(idBytes + tagBytes + 2 + 1 + varintBytes(commands.length) + commands.length)
    if (idBytes > 0) {
      layer.varint(0x08)
      layer.varint(id)
    }
    if (tagBytes > 0) {
      layer.varint(0x12)
      layer.varint(tags.length)
      layer.copy(tags.bytes, 0, tags.length)
    }
    layer.varint(0x18)
    layer.varint(words[at + 3] as number)
    layer.varint(0x22)
    layer.varint(commands.length)
    layer.copy(commands.bytes, 0, commands.length)
  }

  #readTags(words: Int32Array, at: number, keys: number[], counted: { values: number }): void {
    const tags = this.#tags
    tags.length = 0
    const count = words[at] as number
    if (count === 0) return
    const bytes = new Uint8Array(words.buffer)
    let from = 4 * (at + 1 + 3 * count)
    for (let i = at + 1; i < at + 1 + 3 * count; i += 3) {
      const field = words[i] as number
      const value = words[i + 1] as number
      const to = from + (words[i + 2] as number)
      let key = this.#keys[field] as number
      if (key < 0) {
        key = keys.length
        this.#keys[field] = key
        keys.push(field)
      }
      let number = counted.values
      if (value !== UNKNOWN && this.#stamps[value] === this.#stamp) number = this.#numbers[value] as number
      else {
        counted.values++
        this.#values.varint(0x22)
        this.#values.varint(to - from)
        this.#values.copy(bytes, from, to)
        if (value !== UNKNOWN) {
          this.#stamps[value] = this.#stamp
          this.#numbers[value] = number
        }
      }
      tags.varint(key)
      tags.varint(number)
      from = to
    }
  }

  #readCommands(words: Int32Array, from: number, to: number, coarseness: number): void {
    const commands = this.#commands
    commands.length = 0
    const source = coarseness === 1 ? words.subarray(from, to) : coarser(words.subarray(from, to), coarseness)
    for (let i = 0; i < source.length; i++) commands.varint((source[i] as number) >>> 0)
  }
}

/** Returns the geometry on a coarser grid. */
function coarser(commands: Int32Array, cell: number): readonly number[] {
  const paths = readCommands(commands).map((path) => path.map((value) => Math.round(value / cell) * cell))
  const type = isPolygon(commands) ? 3 : 2
  const numbers: number[] = []
  writeCommands(type, type === 3 ? cleanPolygon(paths).flat() : paths.map(withoutRepeats), numbers)
  return numbers
}

/** Returns how many of a tile's features may fit, by the size that all of them take; 0 if a single one does not. */
function fewer(count: number, bytes: number): number {
  const fitting = Math.floor((count * MAX_TILE_BYTES * 0.9) / bytes)
  return count > 1 ? Math.max(1, fitting) : fitting
}

/**
 * Returns the largest features of each layer, or for points a random selection, which thins them evenly. Layers with few features keep them: those
 * with many share the rest.
 */
function largest(words: Int32Array, offsets: readonly number[], count: number): readonly number[] {
  if (offsets.length <= count) return offsets
  const sizes = new Float32Array(words.buffer)
  const layers = [...layersOf(words, offsets).values()].sort((a, b) => a.length - b.length)
  const kept = new Set<number>()
  for (const [i, own] of layers.entries()) {
    const share = Math.floor((count - kept.size) / (layers.length - i))
    const ordered = own.sort(
      (a, b) =>
        (sizes[b + SIZE_AT] as number) - (sizes[a + SIZE_AT] as number) ||
        lot(words[b + 1] as number) - lot(words[a + 1] as number),
    )
    for (const at of ordered.slice(0, share)) kept.add(at)
  }
  return offsets.filter((at) => kept.has(at))
}

/** Returns the records of each layer. */
function layersOf(words: Int32Array, offsets: readonly number[]): Map<number, number[]> {
  const byLayer = new Map<number, number[]>()
  for (const at of offsets) {
    const layer = words[at + 2] as number
    const known = byLayer.get(layer)
    if (known === undefined) byLayer.set(layer, [at])
    else known.push(at)
  }
  return byLayer
}

function compressed(tile: Buffer): Buffer {
  if (tile.length > SMALL_BYTES) return gzipSync(tile)
  return tile.length > STORED_BYTES ? gzipSync(tile, SMALL) : stored(tile)
}

/** Returns a gzip member with one uncompressed block (RFC 1952, RFC 1951 section 3.2.4). */
function stored(tile: Buffer): Buffer {
  const member = Buffer.alloc(10 + 5 + tile.length + 8)
  member.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1])
  member.writeUInt16LE(tile.length, 11)
  member.writeUInt16LE(tile.length ^ 0xffff, 13)
  tile.copy(member, 15)
  member.writeUInt32LE(crc32(tile), 15 + tile.length)
  member.writeUInt32LE(tile.length, 19 + tile.length)
  return member
}
