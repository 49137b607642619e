import { buildFeature } from 'flatgeobuf/lib/mjs/generic/feature.js'
import { buildHeader } from 'flatgeobuf/lib/mjs/generic/featurecollection.js'
import { toGeometryType } from 'flatgeobuf/lib/mjs/generic/geometry.js'
import { parseGC, parseGeometry } from 'flatgeobuf/lib/mjs/geojson/geometry.js'
import type { IndexField } from '../index-file/index-description.js'
import { idJson, idText } from '../index-file/own-id.js'
import type { Geometry } from './cql2/expression.js'
import { type Convert, geoJsonText, geometryOf, wktText } from './geometry.js'
import type { ItemsQuery, SqlRow } from './items-query.js'

export interface Row {
  readonly fid: number
  readonly ownId: string | null
  readonly geometry: Uint8Array | null
  readonly layer: string
}

/** Writes features in one format. GeoJSON features are separated by commas, and the caller writes the text around them. */
export interface Encoder {
  head(): Uint8Array
  /** @param index of the feature in the response, from 0 */
  feature(row: Row, values: SqlRow, index: number): Uint8Array
}

/** @param locatesAll true if no feature lacks a geometry */
export function encoderOf(query: ItemsQuery, convert: Convert, locatesAll: boolean): Encoder {
  switch (query.format) {
    case 'geojson':
      return new GeoJsonEncoder(query, convert)
    case 'csv':
      return new CsvEncoder(query, convert)
    case 'fgb':
      return new FlatGeobufEncoder(query, convert, locatesAll)
  }
}

const NOTHING = new Uint8Array(0)

type Cell = SqlRow[number]

/** Returns a value as JSON. */
function jsonOf(type: IndexField['type'], value: Cell): string {
  if (value === null || value instanceof Uint8Array) return 'null'
  if (type === 'boolean') return value === 0 || value === '0' ? 'false' : 'true'
  if (type === 'integer' && typeof value === 'string' && /^-?\d+$/.test(value)) return value
  if (type === 'json' && typeof value === 'string' && isJson(value)) return value
  return JSON.stringify(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns a function that writes a feature as GeoJSON. */
export function geoJsonOf(
  fields: readonly IndexField[],
  convert: Convert,
): (row: Row, values: readonly Cell[]) => string {
  const names = fields.map(({ name }) => `${JSON.stringify(name)}:`)
  return (row, values) => {
    let properties = ''
    for (let i = 0; i < fields.length; i++) {
      const { type, layers } = fields[i] as IndexField
      const value = values[i] as Cell
      // Fields of other layers are not properties of this feature.
      if (value === null && layers.length > 0 && !layers.includes(row.layer)) continue
      properties += `${properties === '' ? '' : ','}${names[i]}${jsonOf(type, value)}`
    }
    const id = row.ownId === null ? row.fid : idJson(row.ownId)
    return `{"type":"Feature","id":${id},"geometry":${geoJsonText(row.geometry, convert)},"properties":{${properties}}}`
  }
}

class GeoJsonEncoder implements Encoder {
  readonly #textOf: ReturnType<typeof geoJsonOf>

  constructor({ selected }: ItemsQuery, convert: Convert) {
    this.#textOf = geoJsonOf(selected, convert)
  }

  head(): Uint8Array {
    return NOTHING
  }

  feature(row: Row, values: SqlRow, index: number): Uint8Array {
    return Buffer.from(`${index === 0 ? '' : ','}${this.#textOf(row, values)}`)
  }
}

/** CSV by RFC 4180, in UTF-8, with the geometry as well-known text in the last column. */
class CsvEncoder implements Encoder {
  readonly #fields: readonly IndexField[]
  readonly #convert: Convert

  constructor({ selected }: ItemsQuery, convert: Convert) {
    this.#fields = selected
    this.#convert = convert
  }

  head(): Uint8Array {
    return Buffer.from(`${['id', ...this.#fields.map(({ name }) => name), 'WKT'].map(csvText).join(',')}\r\n`)
  }

  feature(row: Row, values: SqlRow): Uint8Array {
    const cells = values.map((value, i) => csvOf((this.#fields[i] as IndexField).type, value))
    const line = [csvText(row.ownId === null ? String(row.fid) : idText(row.ownId)), ...cells, csvText(wktText(row.geometry, this.#convert))]
    return Buffer.from(`${line.join(',')}\r\n`)
  }
}

function csvOf(type: IndexField['type'], value: Cell): string {
  if (value === null || value instanceof Uint8Array) return ''
  if (type === 'boolean') return jsonOf(type, value)
  return csvText(String(value))
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const MAGIC = new Uint8Array([0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62, 0x01])
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
const NO_MORE_ABOUT = {
  title: null,
  description: null,
  width: -1,
  precision: -1,
  scale: -1,
  nullable: true,
  unique: false,
  primary_key: false,
}

const GEOMETRY_COLLECTION = 7
/** GDAL rejects other empty geometries, and the reader for JavaScript rejects a feature without one. */
const NO_GEOMETRY = { type: GEOMETRY_COLLECTION, parts: [] }

/** Streams FlatGeobuf 3, without an index and a feature count. The header names a type only if all geometries have that type: readers rely on it. */
class FlatGeobufEncoder implements Encoder {
  readonly #fields: readonly IndexField[]
  readonly #convert: Convert
  readonly #header: Parameters<typeof buildFeature>[2]
  readonly #isMulti: boolean
  readonly #crsCode: number

  constructor({ selected, crs, geometryType }: ItemsQuery, convert: Convert, locatesAll: boolean) {
    this.#fields = selected
    // Files use the axis order of GIS, whatever the authority defines.
    this.#convert = convert !== null && crs.northFirst ? swapped(convert) : convert
    this.#crsCode = Number(/\/EPSG\/0\/(\d+)$/.exec(crs.uri)?.[1] ?? 4326)
    const isOneType = locatesAll && geometryType !== null && /^(Multi)?(Point|LineString|Polygon)$/.test(geometryType)
    this.#isMulti = isOneType && geometryType.startsWith('Multi')
    this.#header = {
      geometryType: isOneType ? toGeometryType(geometryType) : 0,
      columns: selected.map(({ name, type }) => ({ name, type: COLUMN_TYPES[type], ...NO_MORE_ABOUT })),
      envelope: null,
      featuresCount: 0,
      indexNodeSize: 0,
      crs: null,
      title: null,
      description: null,
      metadata: null,
    }
  }

  head(): Uint8Array {
    return Buffer.concat([MAGIC, padded(buildHeader(this.#header, this.#crsCode))])
  }

  feature(row: Row, values: SqlRow): Uint8Array {
    const properties: Record<string, never> = {}
    for (const [i, value] of values.entries()) {
      const { name, type } = this.#fields[i] as IndexField
      properties[name] = fgbOf(type, value) as never
    }
    const geometry = withoutEmpty(geometryOf(row.geometry, this.#convert))
    return padded(buildFeature(this.#parsed(geometry) as never, properties, this.#header))
  }

  #parsed(geometry: Geometry | null): unknown {
    if (geometry === null) return NO_GEOMETRY
    if (geometry.type === 'GeometryCollection') return parseGC(geometry as never)
    return parseGeometry((this.#isMulti ? asMulti(geometry) : geometry) as never)
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

function asMulti({ type, coordinates }: Exclude<Geometry, { type: 'GeometryCollection' }>): object {
  return type.startsWith('Multi') ? { type, coordinates } : { type: `Multi${type}`, coordinates: [coordinates] }
}

function fgbOf(type: IndexField['type'], value: Cell): unknown {
  if (value === null || value instanceof Uint8Array) return null
  if (type === 'boolean') return value === 0 || value === '0' ? 0 : 1
  if (type === 'integer') return BigInt(value)
  if (type === 'number') return Number(value)
  if (type === 'json') return isJson(String(value)) ? JSON.parse(String(value)) : String(value)
  return String(value)
}

function swapped(convert: NonNullable<Convert>): NonNullable<Convert> {
  return (x, y) => {
    const [north, east] = convert(x, y)
    return [east, north]
  }
}
