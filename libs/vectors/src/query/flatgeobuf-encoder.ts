import { NUMBERED_GEOMETRY_TYPES } from '@gateway/contracts/vector.js'
import { Builder } from 'flatbuffers'
import { Column } from 'flatgeobuf/lib/mjs/flat-geobuf/column.js'
import { Crs as FlatCrs } from 'flatgeobuf/lib/mjs/flat-geobuf/crs.js'
import { Feature } from 'flatgeobuf/lib/mjs/flat-geobuf/feature.js'
import { Geometry as FlatGeometry } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry.js'
import { Header } from 'flatgeobuf/lib/mjs/flat-geobuf/header.js'
import type { IndexField } from '../index-file/index-description.js'
import type { Geometry } from './cql2/expression.js'
import type { Crs } from './crs.js'
import { type Convert, geometryOf } from './geometry.js'
import type { Encoder, ItemsQuery, Row, SqlRow } from './items-query.js'
import { type Cell, jsonOf, type SharedColumn, sharedColumns } from './values.js'

export const MAGIC = new Uint8Array([0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62, 0x01])

/** Values of FlatGeobuf's ColumnType. */
const COLUMN_TYPES: Readonly<Record<IndexField['type'], number>> = {
  boolean: 2,
  integer: 7,
  number: 10,
  string: 11,
  json: 12,
  date: 13,
  datetime: 13,
}

/** The place of an index in a file: a box, and the number of features in it. */
export interface Indexed {
  /** of the layer */
  readonly name: string
  readonly envelope: readonly [number, number, number, number]
  readonly count: number
  readonly nodeSize: number
}

/**
 * Writes FlatGeobuf 3. The header names a type only if all geometries have that type: readers rely on it. If one geometry has heights, all have them,
 * and 0 stands for a missing one, as in GDAL's own files: with NaN, no ring would be closed.
 */
export class FlatGeobufEncoder implements Encoder {
  readonly #columns: readonly SharedColumn[]
  readonly #convert: Convert
  readonly #type: number
  readonly #isMulti: boolean
  readonly #hasZ: boolean
  readonly #crsCode: number

  constructor({ selected, crs, geometryType, hasZ = false }: ItemsQuery, convert: Convert, locatesAll: boolean) {
    this.#columns = sharedColumns(selected)
    this.#convert = inGisOrder(convert, crs)
    this.#crsCode = Number(/\/EPSG\/0\/(\d+)$/.exec(crs.uri)?.[1] ?? 4326)
    const isOneType = locatesAll && geometryType !== null && /^(Multi)?(Point|LineString|Polygon)$/.test(geometryType)
    this.#isMulti = isOneType && geometryType.startsWith('Multi')
    this.#type = isOneType ? numberOf(geometryType) : 0
    this.#hasZ = hasZ
  }

  /** @param indexed null: no index follows, and the number of features is unknown */
  head(indexed: Indexed | null = null): Uint8Array {
    const builder = new Builder()
    const columns = this.#columns.map(({ name, type }) => {
      const text = builder.createString(name)
      Column.startColumn(builder)
      Column.addName(builder, text)
      Column.addType(builder, COLUMN_TYPES[type])
      return Column.endColumn(builder)
    })
    const list = columns.length === 0 ? 0 : Header.createColumnsVector(builder, columns)
    const envelope = indexed === null ? 0 : Header.createEnvelopeVector(builder, [...indexed.envelope])
    const name = indexed === null ? 0 : builder.createString(indexed.name)
    FlatCrs.startCrs(builder)
    FlatCrs.addCode(builder, this.#crsCode)
    const crs = FlatCrs.endCrs(builder)
    Header.startHeader(builder)
    if (name !== 0) Header.addName(builder, name)
    if (envelope !== 0) Header.addEnvelope(builder, envelope)
    Header.addGeometryType(builder, this.#type)
    Header.addHasZ(builder, this.#hasZ)
    if (list !== 0) Header.addColumns(builder, list)
    Header.addFeaturesCount(builder, BigInt(indexed?.count ?? 0))
    Header.addIndexNodeSize(builder, indexed?.nodeSize ?? 0)
    Header.addCrs(builder, crs)
    builder.finishSizePrefixed(Header.endHeader(builder))
    return Buffer.concat([MAGIC, padded(builder.asUint8Array())])
  }

  feature(row: Row, values: SqlRow): Uint8Array {
    const builder = new Builder(1024)
    const properties = Feature.createPropertiesVector(builder, propertiesOf(this.#columns, values))
    const geometry = this.#geometry(builder, withoutEmpty(geometryOf(row.geometry, this.#convert)))
    Feature.startFeature(builder)
    Feature.addGeometry(builder, geometry)
    Feature.addProperties(builder, properties)
    builder.finishSizePrefixed(Feature.endFeature(builder))
    return padded(builder.asUint8Array())
  }

  /** GDAL rejects other empty geometries than collections, and the reader for JavaScript rejects a feature without one. */
  #geometry(builder: Builder, geometry: Geometry | null): number {
    const whole = geometry ?? { type: 'GeometryCollection' as const, geometries: [] }
    return new GeometryWriter(builder, this.#hasZ).write(this.#isMulti ? asMulti(whole) : whole)
  }
}

function asMulti(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection' || geometry.type.startsWith('Multi')) return geometry
  return { type: `Multi${geometry.type}`, coordinates: [geometry.coordinates] } as Geometry
}

class GeometryWriter {
  readonly #builder: Builder
  readonly #hasZ: boolean

  constructor(builder: Builder, hasZ: boolean) {
    this.#builder = builder
    this.#hasZ = hasZ
  }

  write(geometry: Geometry): number {
    if (geometry.type !== 'GeometryCollection' && geometry.type !== 'MultiPolygon')
      return this.#simple(geometry.type, geometry.coordinates)
    const inner =
      geometry.type === 'GeometryCollection'
        ? geometry.geometries
        : (geometry.coordinates as unknown[]).map((one) => ({ type: 'Polygon', coordinates: one }) as Geometry)
    const builder = this.#builder
    const offsets = inner.map((one) => this.write(one))
    const parts = FlatGeometry.createPartsVector(builder, offsets)
    FlatGeometry.startGeometry(builder)
    FlatGeometry.addParts(builder, parts)
    FlatGeometry.addType(builder, numberOf(geometry.type))
    return FlatGeometry.endGeometry(builder)
  }

  /** GDAL 3.6 rejects a MultiLineString without its ends, even one of a single line. */
  #simple(type: string, coordinates: unknown): number {
    const builder = this.#builder
    const [xy, z, ends]: [number[], number[], number[]] = [[], [], []]
    const take = ([x = Number.NaN, y = Number.NaN, height = 0]: readonly number[]) => {
      xy.push(x, y)
      z.push(height)
    }
    if (type === 'Point') take(coordinates as number[])
    else if (type === 'LineString' || type === 'MultiPoint') for (const one of coordinates as number[][]) take(one)
    else {
      for (const line of coordinates as number[][][]) {
        for (const one of line) take(one)
        ends.push(z.length)
      }
    }
    const zOffset = this.#hasZ ? FlatGeometry.createZVector(builder, z) : 0
    const xyOffset = FlatGeometry.createXyVector(builder, xy)
    const endsOffset = ends.length > 0 ? FlatGeometry.createEndsVector(builder, ends) : 0
    FlatGeometry.startGeometry(builder)
    if (endsOffset !== 0) FlatGeometry.addEnds(builder, endsOffset)
    FlatGeometry.addXy(builder, xyOffset)
    if (zOffset !== 0) FlatGeometry.addZ(builder, zOffset)
    FlatGeometry.addType(builder, numberOf(type))
    return FlatGeometry.endGeometry(builder)
  }
}

function numberOf(type: string): number {
  return (NUMBERED_GEOMETRY_TYPES as readonly string[]).indexOf(type)
}

/** Files use the axis order of GIS, whatever the authority defines. */
export function inGisOrder(convert: Convert, { northFirst }: Crs): Convert {
  if (convert === null || !northFirst) return convert
  return (x, y) => {
    const [north, east] = convert(x, y)
    return [east, north]
  }
}

/** Lengthens a table that begins with its size in bytes. The reader for JavaScript reads numbers of 8 bytes only at multiples of 8. */
function padded(table: Uint8Array): Uint8Array {
  const rest = table.length % 8
  if (rest === 0) return table
  const longer = Buffer.alloc(table.length + 8 - rest)
  longer.set(table)
  longer.writeUInt32LE(longer.length - 4)
  return longer
}

/** Returns a geometry without its empty parts, or null if all of it is empty. */
function withoutEmpty(geometry: Geometry | null): Geometry | null {
  if (geometry === null) return null
  if (geometry.type !== 'GeometryCollection') return hasPosition(geometry.coordinates) ? geometry : null
  const geometries = geometry.geometries.map(withoutEmpty).filter((inner) => inner !== null)
  return geometries.length === 0 ? null : { type: geometry.type, geometries }
}

function hasPosition(coordinates: unknown): boolean {
  return Array.isArray(coordinates) ? coordinates.some(hasPosition) : true
}

/** Returns the values of a feature, each behind the number of its column. */
function propertiesOf(columns: readonly SharedColumn[], values: SqlRow): Uint8Array {
  const parts: Uint8Array[] = []
  for (const [i, { type: shared, fields }] of columns.entries()) {
    for (const { at, type } of fields) {
      const value = values[at] as Cell
      const isJson = shared === 'json' && type !== 'json' && value !== null
      const bytes = bytesOf(shared, isJson ? jsonOf(type, value) : value)
      if (bytes === null) continue
      const column = Buffer.alloc(2)
      column.writeUInt16LE(i)
      parts.push(column, bytes)
    }
  }
  return Buffer.concat(parts)
}

/** Returns null for a missing value, and for one that is not of the column's type. */
function bytesOf(type: IndexField['type'], value: Cell): Uint8Array | null {
  if (value === null || value instanceof Uint8Array) return null
  if (type === 'boolean') return Buffer.from([value === 0 || value === '0' ? 0 : 1])
  if (type === 'integer' || type === 'number') {
    const bytes = Buffer.alloc(8)
    if (type === 'number') bytes.writeDoubleLE(Number(value))
    else if (/^-?\d{1,19}$/.test(String(value))) bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)))
    else return null
    return bytes
  }
  const text = Buffer.from(String(value))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text])
}
