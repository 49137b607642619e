import { csvField } from '@gateway/contracts/csv.js'
import type { IndexField } from '../index-file/index-description.js'
import { idJson, idText } from '../index-file/own-id.js'
import { FlatGeobufEncoder } from './flatgeobuf-encoder.js'
import { type Convert, geoJsonText, wktText } from './geometry.js'
import type { Encoder, ItemsQuery, Row, SqlRow } from './items-query.js'
import { type Cell, jsonOf, plainText, type SharedColumn, sharedColumns } from './values.js'

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

/** Returns a function that writes a feature as GeoJSON. */
export function geoJsonOf(
  fields: readonly IndexField[],
  convert: Convert,
): (row: Row, values: readonly Cell[]) => string {
  const names = fields.map(({ name, shown = name }) => `${JSON.stringify(shown)}:`)
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
    return `{"type":"Feature",${id === null ? '' : `"id":${id},`}"geometry":${geoJsonText(row.geometry, convert)},"properties":{${properties}}}`
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

/** CSV by RFC 4180, in UTF-8, with the geometry as well-known text in the last column. The data are unchanged unless the query guards them. */
class CsvEncoder implements Encoder {
  readonly #columns: readonly SharedColumn[]
  readonly #convert: Convert
  readonly #isGuarded: boolean

  constructor({ selected, isGuarded = false }: ItemsQuery, convert: Convert) {
    this.#columns = sharedColumns(selected)
    this.#convert = convert
    this.#isGuarded = isGuarded
  }

  head(): Uint8Array {
    const names = ['id', ...this.#columns.map(({ name }) => name), 'WKT']
    return Buffer.from(`${names.map((name) => csvField(name, this.#isGuarded)).join(',')}\r\n`)
  }

  feature(row: Row, values: SqlRow): Uint8Array {
    const cells = this.#columns.map(({ fields }) => {
      const one = fields.find(({ at }) => values[at] !== null) ?? (fields[0] as SharedColumn['fields'][number])
      return csvOf(one.type, values[one.at] as Cell, this.#isGuarded)
    })
    const isText = row.ownId !== null && idJson(row.ownId).startsWith('"')
    const id = row.ownId === null ? String(row.fid ?? '') : idText(row.ownId)
    const first = csvField(id, this.#isGuarded && isText)
    const line = [first, ...cells, csvField(wktText(row.geometry, this.#convert), false)]
    return Buffer.from(`${line.join(',')}\r\n`)
  }
}

function csvOf(type: IndexField['type'], value: Cell, isGuarded: boolean): string {
  if (value === null || value instanceof Uint8Array) return ''
  if (type === 'boolean') return jsonOf(type, value)
  return csvField(plainText(type, value), isGuarded && type !== 'integer' && type !== 'number')
}
