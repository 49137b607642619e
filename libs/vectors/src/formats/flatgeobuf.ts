import { closeSync, readSync } from 'node:fs'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import {
  NUMBERED_GEOMETRY_TYPES,
  UNKNOWN_FACTS,
  type VectorFacts,
  type VectorField,
} from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { boundsInWgs84, type Crs, crsOfEpsg, crsOfPrj } from './crs.js'
import {
  catalogType,
  DamagedFile,
  type FieldType,
  hexOf,
  type SourceFeature,
  type SourceField,
  type SourceLayer,
  type SourceValue,
} from './feature.js'
import type { FileWindow } from './file-window.js'
import { FlatTable } from './flatbuffer.js'
import { writeFlatGeometry } from './flatgeobuf-geometry.js'
import { TOO_LARGE } from './json-splitter.js'
import { MAX_FEATURE_BYTES, MAX_FIELDS, MAX_NAME, MAX_SIDECAR_BYTES } from './limits.js'
import { WkbWriter } from './wkb-writer.js'

/** Magic bytes of version 3. The eighth byte is a patch version, which readers ignore. */
const MAGIC = Buffer.from('fgb\x03fgb')
const MAGIC_BYTES = 8
const LENGTH_BYTES = 4
/** Maximum bytes of a header; real ones have a few thousand. For a larger one only the encoding is reported. */
const MAX_HEADER_BYTES = 1024 * 1024

/** Fields of the header, in the order of the schema. */
const HEADER = { envelope: 1, geometryType: 2, hasZ: 3, columns: 7, featuresCount: 8, indexNodeSize: 9, crs: 10 }
const COLUMN = { name: 0, type: 1 }
const CRS = { org: 0, code: 1, wkt: 4 }

/** The types of columns, by their numbers; all others are numbers. */
const FIELD_TYPES: Readonly<Record<number, FieldType>> = {
  0: 'integer',
  1: 'integer',
  2: 'boolean',
  3: 'integer',
  4: 'integer',
  5: 'integer',
  6: 'integer',
  7: 'integer',
  8: 'integer',
  9: 'number',
  10: 'number',
  11: 'string',
  12: 'json',
  13: 'datetime',
  14: 'string',
}
const BINARY = 14

/**
 * Reads facts from the header of a FlatGeobuf file. Returns null if the file does not exist. Throws `BrokenArchiveError` for other content, and for a
 * truncated file (detected by its index, if it has one). Also throws the disk's errors.
 */
export function flatgeobufFacts(root: string, path: string): VectorFacts | null {
  const opened = openBelowSync(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error(`this process may not read ${path}`)
    return null
  }
  const { fd, size } = opened
  const read = (position: number, length: number) => {
    const buffer = Buffer.alloc(length)
    if (position + length > size || readSync(fd, buffer, 0, length, position) < length)
      throw new BrokenArchiveError(sentence('said.cut_off'))
    return buffer
  }
  try {
    return describe(read)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new BrokenArchiveError('its header is broken')
  } finally {
    closeSync(fd)
  }
}

/** Reads bytes at a position. Throws `BrokenArchiveError` if the file is shorter. */
type Read = (position: number, length: number) => Buffer

function describe(read: Read): VectorFacts {
  if (!read(0, MAGIC_BYTES).subarray(0, MAGIC.length).equals(MAGIC))
    throw new BrokenArchiveError('it is not FlatGeobuf')
  const headerAt = MAGIC_BYTES + LENGTH_BYTES
  const length = read(MAGIC_BYTES, LENGTH_BYTES).readUInt32LE()
  const known = { encoding: 'UTF-8', encoding_source: 'format' } as const
  if (length > MAX_HEADER_BYTES) {
    read(headerAt + length, 0)
    return { ...UNKNOWN_FACTS, ...known }
  }
  const header = FlatTable.root(read(headerAt, length))
  const count = Number(header.long(HEADER.featuresCount))
  assertWhole(read, headerAt + length, count, header.short(HEADER.indexNodeSize, DEFAULT_NODE_SIZE))
  const crs = crsOf(header.table(HEADER.crs))
  const box = header.doubles(HEADER.envelope)
  return {
    crs: crs?.name ?? null,
    bounds:
      crs === null || box === null || box.length < 4 ? null : boundsInWgs84(crs, box.slice(0, 4) as unknown as Bounds),
    // Higher numbers are curves and surfaces.
    geometry_type: NUMBERED_GEOMETRY_TYPES[header.byte(HEADER.geometryType)] ?? 'Geometry',
    // A streaming writer leaves 0.
    feature_count: count > 0 && Number.isSafeInteger(count) ? count : null,
    fields: fieldsOf(header.tables(HEADER.columns) ?? []),
    ...known,
  }
}

function crsOf(crs: FlatTable | null): Crs | null {
  if (crs === null) return null
  const text = (crs.text(CRS.wkt) ?? '').slice(0, MAX_SIDECAR_BYTES)
  const told = crsOfPrj(text)
  const code = crs.int(CRS.code)
  const isEpsg = (crs.text(CRS.org) ?? 'EPSG').toUpperCase() === 'EPSG' && code > 0
  return isEpsg ? crsOfEpsg(String(code), told && text) : told
}

function fieldsOf(columns: readonly FlatTable[]): VectorField[] | null {
  if (columns.length > MAX_FIELDS) return null
  return columns.map((column) => {
    const { name, type } = toColumn(column)
    return { name: name.slice(0, MAX_NAME), type: catalogType(type) }
  })
}

function toColumn(column: FlatTable): SourceField & { readonly code: number } {
  const code = column.byte(COLUMN.type)
  return { name: column.text(COLUMN.name) ?? '', type: FIELD_TYPES[code] ?? 'json', code }
}

const DEFAULT_NODE_SIZE = 16
/** Size of a node in the index, a packed R-tree from its root to its leaves: a box, and for a leaf the offset of its feature behind the index. */
const NODE_BYTES = 40
const OFFSET_IN_NODE = 32

/** Returns the bytes of the index, or 0 without one. */
function indexBytes(count: number, nodeSize: number): number {
  if (count === 0 || nodeSize < 2) return 0
  let nodes = count
  let level = count
  // Even a single leaf has a root above it.
  do {
    level = Math.ceil(level / nodeSize)
    nodes += level
  } while (level > 1)
  return nodes * NODE_BYTES
}

/** Checks the end of the file. The last leaf points to the last feature, which begins with its length. Without an index the end is unknown. */
function assertWhole(read: Read, indexAt: number, count: number, nodeSize: number): void {
  const bytes = indexBytes(count, nodeSize)
  if (bytes === 0) return
  const features = indexAt + bytes
  const offset = read(features - NODE_BYTES + OFFSET_IN_NODE, 8).readBigUInt64LE()
  const last = features + Number(offset)
  read(last + LENGTH_BYTES + read(last, LENGTH_BYTES).readUInt32LE(), 0)
}

const FEATURE = { geometry: 0, properties: 1 }

/** Opens the only layer of a FlatGeobuf file. Throws `DamagedFile` for other content. */
export function flatgeobufLayer(file: FileWindow, name: string): SourceLayer {
  if (file.bytes(0, MAGIC_BYTES)?.subarray(0, MAGIC.length).equals(MAGIC) !== true)
    throw new DamagedFile(0, 'it is not FlatGeobuf')
  const headerAt = MAGIC_BYTES + LENGTH_BYTES
  const length = file.bytes(MAGIC_BYTES, LENGTH_BYTES)?.readUInt32LE() ?? 0
  const bytes = file.bytes(headerAt, length)
  if (bytes === null) throw new DamagedFile(0, 'it ends in the middle')
  // The window moves on.
  const header = FlatTable.root(Buffer.from(bytes))
  const columns = (header.tables(HEADER.columns) ?? []).map(toColumn)
  const count = Number(header.long(HEADER.featuresCount))
  const index = indexBytes(count, header.short(HEADER.indexNodeSize, DEFAULT_NODE_SIZE))
  const [type, hasZ] = [header.byte(HEADER.geometryType), header.byte(HEADER.hasZ) === 1]
  return {
    name,
    fields: columns,
    crs: crsOf(header.table(HEADER.crs)),
    count: count > 0 ? count : null,
    features: () => readFeatures(file, headerAt + length + index, { columns, type, hasZ, count }),
  }
}

interface Layout {
  readonly columns: readonly { readonly code: number }[]
  /** 0: each geometry has its own */
  readonly type: number
  readonly hasZ: boolean
  /** 0: unknown */
  readonly count: number
}

function* readFeatures(file: FileWindow, start: number, layout: Layout): Generator<SourceFeature, void> {
  const writer = new WkbWriter()
  let row = 0
  // Bytes behind the features that the header counts are no features.
  for (let at = start; at < file.size && (layout.count === 0 || row < layout.count); row++) {
    const length = file.bytes(at, LENGTH_BYTES)?.readUInt32LE()
    if (length !== undefined && length > MAX_FEATURE_BYTES && at + length <= file.size)
      throw new DamagedFile(row, TOO_LARGE)
    const bytes = length === undefined ? null : file.bytes(at + LENGTH_BYTES, length)
    if (length === undefined || bytes === null) throw new DamagedFile(row, 'it ends in the middle')
    at += LENGTH_BYTES + length
    yield { id: null, row: row + 1, ...readFeature(bytes, layout, writer) }
  }
  if (row < layout.count) throw new DamagedFile(row, `its header names ${layout.count} features`)
}

function readFeature(bytes: Buffer, { columns, type, hasZ }: Layout, writer: WkbWriter) {
  let geometry: Uint8Array | null = null
  let isDamaged = false
  let values: SourceValue[] = columns.map(() => null)
  try {
    const feature = FlatTable.root(bytes)
    values = valuesOf(feature.bytes(FEATURE.properties, 1), columns)
    const table = feature.table(FEATURE.geometry)
    writer.begin()
    if (table !== null && writeFlatGeometry(table, type, hasZ, writer)) geometry = writer.end()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    isDamaged = true
  }
  return { geometry, isDamaged, values }
}

function valuesOf(bytes: Buffer | null, columns: Layout['columns']): SourceValue[] {
  const values: SourceValue[] = columns.map(() => null)
  for (let at = 0; bytes !== null && at < bytes.length; ) {
    const column = bytes.readUInt16LE(at)
    const code = columns[column]?.code
    if (code === undefined) throw new RangeError(`there is no column ${column}`)
    at += 2
    if (code > 10) {
      const length = bytes.readUInt32LE(at)
      const content = bytes.subarray(at + 4, at + 4 + length)
      if (content.length < length) throw new RangeError('a value is cut off')
      values[column] = code === BINARY ? hexOf(content) : content.toString('utf8')
      at += 4 + length
    } else {
      values[column] = NUMBERS[code]?.(bytes, at) ?? null
      at += SIZES[code] as number
    }
  }
  return values
}

/** Bytes and readers of the types of fixed size, by their numbers. */
const SIZES = [1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8]
const NUMBERS: readonly ((bytes: Buffer, at: number) => number | bigint)[] = [
  (bytes, at) => bytes.readInt8(at),
  (bytes, at) => bytes.readUInt8(at),
  (bytes, at) => (bytes.readUInt8(at) === 0 ? 0 : 1),
  (bytes, at) => bytes.readInt16LE(at),
  (bytes, at) => bytes.readUInt16LE(at),
  (bytes, at) => bytes.readInt32LE(at),
  (bytes, at) => bytes.readUInt32LE(at),
  (bytes, at) => shortest(bytes.readBigInt64LE(at)),
  (bytes, at) => shortest(bytes.readBigUInt64LE(at)),
  (bytes, at) => bytes.readFloatLE(at),
  (bytes, at) => bytes.readDoubleLE(at),
]

/** A whole number above 63 bits has no place in the index as such. */
function shortest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) || value > 2n ** 63n - 1n ? number : value
}
