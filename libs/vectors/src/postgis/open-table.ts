import type { DatabaseConnection, DatabaseTable } from '@gateway/contracts/postgis.js'
import { hexOf, type SourceFeature, type SourceValue, type StreamedLayer } from '../formats/feature.js'
import { DEFAULT_CRS } from '../query/crs.js'
import type { SqlRow } from '../query/items-query.js'
import { fieldOf } from './columns.js'
import { openDatabase } from './connect.js'
import type { TableQuery } from './messages.js'
import { featuresOf } from './read-query.js'

/** A table that is read as a layer of a file is. */
export interface TableSource {
  readonly connection: DatabaseConnection
  readonly table: DatabaseTable
  /** id of the token for policies of the database */
  readonly token: string
}

/** Opens a table, whose features come from a cursor in longitude and latitude. */
export function openTable({ connection, table, token }: TableSource, name: string) {
  const { statementTimeoutSeconds } = table
  const sql = openDatabase({ ...connection, pool: 1 }, { statementTimeoutSeconds, applicationName: 'gateway download' })
  const fields = table.columns.map(fieldOf)
  const query: TableQuery = {
    ...{
      index: '',
      table,
      fields,
      selected: fields,
      geometryType: null,
      filter: null,
      id: null,
      sort: [],
      after: null,
    },
    ...{ limit: Number.MAX_SAFE_INTEGER - 1, offset: 0, crs: DEFAULT_CRS, format: 'geojson', texts: null },
    maxBytes: Number.POSITIVE_INFINITY,
  }
  const isNumber = table.key.length === 1 && table.key[0]?.form === 'integer'
  async function* features(): AsyncGenerator<SourceFeature> {
    let n = 0
    for await (const { row, values, wkb } of featuresOf(sql, query, name, token, () => {})) {
      const id = row.ownId === null ? null : isNumber ? BigInt(row.ownId) : row.ownId
      yield {
        id,
        row: ++n,
        geometry: wkb,
        isDamaged: false,
        values: values.map((value, i) => stored(value, fields[i]?.type)),
      }
    }
  }
  const layer: StreamedLayer = {
    name,
    fields: fields.map(({ name: of, type }) => ({ name: of, type })),
    crs: null,
    count: null,
    features,
  }
  return { layers: [layer], assertUnchanged: () => {}, close: () => void sql.end({ timeout: 1 }) }
}

/** Numbers that a double does not hold are texts in a response. */
function stored(value: SqlRow[number], type: string | undefined): SourceValue {
  if (value instanceof Uint8Array) return hexOf(value)
  if (typeof value !== 'string') return value
  return type === 'integer' ? BigInt(value) : type === 'number' ? Number(value) : value
}
