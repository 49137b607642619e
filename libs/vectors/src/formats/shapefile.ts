import { closeSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { decodedFields } from '@gateway/contracts/decoded-fields.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { ReadFacts } from '@gateway/contracts/vector.js'
import { type GeometryType, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { boundsInWgs84, crsOfPrj } from './crs.js'
import { catalogFields, DBF_HEAD_BYTES, readDbfHeader } from './dbf.js'
import { encodingOfCpg, encodingOfLanguageDriver, isDecodable } from './encoding.js'
import { guessEncoding } from './guess-encoding.js'
import { MAX_SIDECAR_BYTES } from './limits.js'

interface Part {
  readonly name: string
  /** bytes */
  readonly size: number
}

export const SHP_HEADER = 100
export const SHP_MAGIC = 9994
/** Bytes of an entry in the .shx: one offset and one length for each shape. */
export const SHX_ENTRY = 8

/** Shape types, without the tens digit that denotes Z or M. */
const GEOMETRIES: Readonly<Record<number, GeometryType>> = {
  1: 'Point',
  3: 'LineString',
  5: 'Polygon',
  8: 'MultiPoint',
}
const MULTI_PATCH = 31

/** Reads facts from the headers of a shapefile's parts. Facts of an absent or damaged part are null. Throws the disk's errors. */
export function shapefileFacts(root: string, shapefile: string, parts: readonly Part[]): ReadFacts {
  const part = (extension: string) => parts.find(({ name }) => name.toLowerCase().endsWith(extension))
  return factsOfParts({
    head: (extension) => {
      const found = extension === '.shp' ? shapefile : part(extension)?.name
      return found === undefined
        ? null
        : readHead(root, join(dirname(shapefile), basename(found)), PART_BYTES[extension])
    },
    size: (extension) => part(extension)?.size,
  })
}

/** Bytes that are read of each part. For the table this includes some rows, from which its encoding may be guessed. */
export const PART_BYTES = {
  '.shp': SHP_HEADER,
  '.dbf': DBF_HEAD_BYTES + 256 * 1024,
  '.cpg': MAX_SIDECAR_BYTES,
  '.prj': MAX_SIDECAR_BYTES,
} as const
export type ReadPart = keyof typeof PART_BYTES

/** The parts of a shapefile, in a folder or a zip. */
export interface Parts {
  /** the first bytes of a part; null if it is absent */
  head(extension: ReadPart): Buffer | null
  /** size of the whole part in bytes; undefined if it is absent */
  size(extension: '.shx'): number | undefined
}

export function factsOfParts({ head, size }: Parts): ReadFacts {
  const shp = head('.shp')
  const table = head('.dbf')
  const dbf = readDbfHeader(table)
  const cpg = head('.cpg')
  const { encoding, isTold, warnings } = encodingOf(table, cpg)
  const fields = dbf && catalogFields(dbf)
  const prj = head('.prj')
  const crs = prj === null ? null : crsOfPrj(prj.toString())
  const count = countOf(size('.shx')) ?? dbf?.records ?? null
  const common = {
    crs: crs?.name ?? null,
    feature_count: count,
    fields: fields && decodedFields(fields, encoding),
    encoding,
    encoding_source: encoding === null || !isTold ? null : cpg === null ? ('table' as const) : ('cpg' as const),
    ...(warnings.length > 0 && { warnings }),
    ...(fields?.every(({ name }) => isAscii(name)) === false && { raw_fields: fields }),
  }
  if (shp === null || shp.length < SHP_HEADER || shp.readInt32BE(0) !== SHP_MAGIC)
    return { ...UNKNOWN_FACTS, ...common }
  // The box of an empty shapefile is arbitrary.
  const bounds = crs === null || count === 0 ? null : boundsInWgs84(crs, boxOf(shp))
  return { ...common, bounds, geometry_type: geometryOf(shp.readInt32LE(32)) }
}

interface Encoding {
  readonly encoding: string | null
  /** true if the files say so */
  readonly isTold: boolean
  readonly warnings: readonly CodedMessage[]
}

/** Finds the encoding of the texts of a table, from what the files say or from the bytes of the first rows. */
export function encodingOf(table: Buffer | null, file: Buffer | null): Encoding {
  // An empty .cpg says nothing.
  const cpg = file?.toString('latin1').trim() === '' ? null : file
  const driver = readDbfHeader(table)?.languageDriver ?? 0
  const told = cpg === null ? encodingOfLanguageDriver(driver) : encodingOfCpg(cpg.toString())
  if (told !== null && isDecodable(told)) return { encoding: told, isTold: true, warnings: [] }
  return { ...guessed(table, cpg), isTold: false }
}

/** Guesses the encoding of a table that states none, or an unknown one. ASCII letters are the same in all encodings. */
function guessed(table: Buffer | null, cpg: Buffer | null): Omit<Encoding, 'isTold'> {
  if (table === null || table.length < 32) return { encoding: null, warnings: [] }
  const texts = Buffer.concat([fieldNames(table), table.subarray(table.readUInt16LE(8))])
  const guess = guessEncoding(texts)
  const name = cpg?.toString().trim().slice(0, MAX_CPG_NAME)
  if (guess === 'ASCII') return { encoding: null, warnings: [] }
  if (name !== undefined)
    return { encoding: guess, warnings: [coded('scan_shapefile_cpg_unknown', { encoding: name })] }
  if (guess === null) return { encoding: null, warnings: [coded('scan_shapefile_encoding_unknown')] }
  return { encoding: guess, warnings: [coded('scan_shapefile_encoding', { encoding: guess })] }
}

/** Maximum characters of an unknown .cpg content in a message. */
const MAX_CPG_NAME = 40

/** Extracts the names, since descriptions of fields contain numbers too. */
function fieldNames(table: Buffer): Buffer {
  const names: Buffer[] = []
  for (let at = 32; at + 32 <= Math.min(table.length, table.readUInt16LE(8)) && table[at] !== 0x0d; at += 32) {
    const name = table.subarray(at, at + 11)
    const end = name.indexOf(0)
    names.push(name.subarray(0, end < 0 ? undefined : end), Buffer.from(' '))
  }
  return Buffer.concat(names)
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

function countOf(shxSize: number | undefined): number | null {
  if (shxSize === undefined || shxSize < SHP_HEADER) return null
  return Math.floor((shxSize - SHP_HEADER) / SHX_ENTRY)
}

function boxOf(shp: Buffer): Bounds {
  return [shp.readDoubleLE(36), shp.readDoubleLE(44), shp.readDoubleLE(52), shp.readDoubleLE(60)]
}

function geometryOf(type: number): GeometryType | null {
  if (type === MULTI_PATCH) return 'MultiPatch'
  return type < 30 ? (GEOMETRIES[type % 10] ?? null) : null
}

/** Returns at most the first `length` bytes of a file; null if it does not exist, leads out of `root`, or must not be read. Throws the disk's errors. */
export function readHead(root: string, path: string, length: number): Buffer | null {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return null
  try {
    const buffer = Buffer.alloc(Math.min(length, opened.size))
    return buffer.subarray(0, readSync(opened.fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(opened.fd)
  }
}
