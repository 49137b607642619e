import { closeSync, readSync } from 'node:fs'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import {
  NUMBERED_GEOMETRY_TYPES,
  UNKNOWN_FACTS,
  type VectorFacts,
  type VectorField,
  type VectorFieldType,
} from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { boundsInWgs84, type Crs, crsOfEpsg, crsOfPrj } from './crs.js'
import { FlatTable } from './flatbuffer.js'
import { MAX_FIELDS, MAX_NAME, MAX_SIDECAR_BYTES } from './limits.js'

/** Magic bytes of version 3. The eighth byte is a patch version, which readers ignore. */
const MAGIC = Buffer.from('fgb\x03fgb')
const MAGIC_BYTES = 8
const LENGTH_BYTES = 4
/** Maximum bytes of a header; real ones have a few thousand. For a larger one only the encoding is reported. */
const MAX_HEADER_BYTES = 1024 * 1024

/** Fields of the header, in the order of the schema. */
const HEADER = { envelope: 1, geometryType: 2, columns: 7, featuresCount: 8, indexNodeSize: 9, crs: 10 }
const COLUMN = { name: 0, type: 1 }
const CRS = { org: 0, code: 1, wkt: 4 }

const BOOLEAN = 2
const LAST_NUMBER = 10
const FIELD_TYPES: ReadonlyMap<number, VectorFieldType> = new Map([
  [BOOLEAN, 'boolean'],
  [11, 'string'],
  [13, 'date'],
])

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
    const type = column.byte(COLUMN.type)
    const known = FIELD_TYPES.get(type) ?? (type <= LAST_NUMBER ? 'number' : 'json')
    return { name: (column.text(COLUMN.name) ?? '').slice(0, MAX_NAME), type: known }
  })
}

const DEFAULT_NODE_SIZE = 16
/** Size of a node in the index, a packed R-tree from its root to its leaves: a box, and for a leaf the offset of its feature behind the index. */
const NODE_BYTES = 40
const OFFSET_IN_NODE = 32

/** Checks the end of the file. The last leaf points to the last feature, which begins with its length. Without an index the end is unknown. */
function assertWhole(read: Read, indexAt: number, count: number, nodeSize: number): void {
  if (count === 0 || nodeSize < 2) return
  let nodes = count
  for (let level = count; level > 1; ) {
    level = Math.ceil(level / nodeSize)
    nodes += level
  }
  const features = indexAt + nodes * NODE_BYTES
  const offset = read(features - NODE_BYTES + OFFSET_IN_NODE, 8).readBigUInt64LE()
  const last = features + Number(offset)
  read(last + LENGTH_BYTES + read(last, LENGTH_BYTES).readUInt32LE(), 0)
}
