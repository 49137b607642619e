import { dirname, join } from 'node:path'
import { decodedFields } from '@gateway/catalog/decoded-fields.js'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type GeometryType, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import type { ReadFacts } from '@gateway/store/vectors.js'
import { boundsInWgs84, crsOfPrj } from './crs.js'
import { DBF_HEAD_BYTES, readDbfHeader } from './dbf.js'
import { encodingOfCpg, encodingOfLanguageDriver } from './encoding.js'
import { MAX_SIDECAR_BYTES } from './limits.js'
import { readHead } from './read-head.js'

interface Part {
  readonly name: string
  /** bytes */
  readonly size: number
}

const SHP_HEADER = 100
const SHP_MAGIC = 9994
/** Of the .shx: one offset and one length for each shape. */
const SHX_ENTRY = 8

/** Shape types, without the tens digit that says whether there are Z or M. */
const GEOMETRIES: Readonly<Record<number, GeometryType>> = {
  1: 'Point',
  3: 'LineString',
  5: 'Polygon',
  8: 'MultiPoint',
}
const MULTI_PATCH = 31

/** What the headers of a shapefile's parts say. Throws what the disk says; where a part lacks or is broken, what it would say is null. */
export function shapefileFacts(root: string, shapefile: string, parts: readonly Part[]): ReadFacts {
  const part = (extension: string) => parts.find(({ name }) => name.toLowerCase().endsWith(extension))
  const head = (extension: string, length: number) => {
    const found = part(extension)
    return found === undefined ? null : readHead(root, join(dirname(shapefile), found.name), length)
  }
  const shp = readHead(root, shapefile, SHP_HEADER)
  const dbf = readDbfHeader(head('.dbf', DBF_HEAD_BYTES))
  const cpg = head('.cpg', MAX_SIDECAR_BYTES)
  const encoding = cpg === null ? encodingOfLanguageDriver(dbf?.languageDriver ?? 0) : encodingOfCpg(cpg.toString())
  const fields = dbf?.fields ?? null
  const prj = head('.prj', MAX_SIDECAR_BYTES)
  const crs = prj === null ? null : crsOfPrj(prj.toString())
  const count = countOf(part('.shx')?.size) ?? dbf?.records ?? null
  const common = {
    crs: crs?.name ?? null,
    feature_count: count,
    fields: fields && decodedFields(fields, encoding),
    encoding,
    encoding_source: encoding === null ? null : cpg === null ? ('table' as const) : ('cpg' as const),
    ...(fields?.every(({ name }) => isAscii(name)) === false && { raw_fields: fields }),
  }
  if (shp === null || shp.length < SHP_HEADER || shp.readInt32BE(0) !== SHP_MAGIC)
    return { ...UNKNOWN_FACTS, ...common }
  // The box of an empty one is whatever its writer left there.
  const bounds = crs === null || count === 0 ? null : boundsInWgs84(crs, boxOf(shp))
  return { ...common, bounds, geometry_type: geometryOf(shp.readInt32LE(32)) }
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
