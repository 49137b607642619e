import type { DatabaseFunction, DatabaseTable } from '@gateway/contracts/postgis.js'
import { quoted } from '../index-file/index-description.js'
import type { Sql } from '../query/cql2/compile.js'
import { tiled } from './columns.js'
import { touchesBox } from './dialect.js'
import { plainGeometry } from './places.js'
import { named, numbered, type Statement, tableName } from './select-features.js'

/** Units of a tile's grid, and those around it in which lines and polygons go on, as in the tiles of files. */
const EXTENT = 4096
const BUFFER = 64
const WEB_MERCATOR = 3857
/** Limit: features of one tile, as of files. */
const MAX_FEATURES = 200_000
/** Parts into which the features of a tile are divided if only some of them fit. */
export const SHARES = 1024
/** Names of the columns that the statements add, which no table is likely to have. */
const GEOMETRY = '__gateway_geometry'
const ID = '__gateway_id'

export interface TileWish {
  readonly z: number
  readonly x: number
  readonly y: number
  /** name of the layer */
  readonly layer: string
  /** columns that become attributes; null: all */
  readonly fields: readonly string[] | null
  /** the first of SHARES parts that are in the tile; SHARES: all features are */
  readonly share: number
}

/** Returns the longitudes and latitudes of a tile with its margin. */
function boxOfTile({ z, x, y }: TileWish): readonly [number, number, number, number] {
  const margin = BUFFER / EXTENT
  const longitude = (column: number) => (column / 2 ** z) * 360 - 180
  const latitude = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / 2 ** z))) * 180) / Math.PI
  return [
    Math.max(-180, longitude(x - margin)),
    latitude(Math.min(2 ** z, y + 1 + margin)),
    Math.min(180, longitude(x + 1 + margin)),
    latitude(Math.max(0, y - margin)),
  ]
}

/**
 * Returns the statement that makes a tile of a table, in the grid of WebMercatorQuad: the tile, and the number of its features. A share of the features
 * is chosen by their keys, so that neighbouring tiles have the same ones.
 */
export function tileOfTable(table: DatabaseTable, wish: TileWish): Statement {
  const { z, x, y, layer, fields, share } = wish
  const place = { text: '?::text::int, ?::text::int, ?::text::int', values: [String(z), String(x), String(y)] }
  const geometry = plainGeometry(table)
  const inGrid = table.srid === WEB_MERCATOR ? geometry : `ST_Transform(${geometry}, ${WEB_MERCATOR})`
  const id = table.key.length === 1 && table.key[0]?.form === 'integer' ? table.key[0] : null
  const attributes = table.columns.filter(({ name }) => (fields === null || fields.includes(name)) && name !== id?.name)
  const shownId = id !== null && (fields === null || fields.includes(id.name)) ? [id] : []
  const columns = [
    ...[...shownId, ...attributes].map((column) => `${tiled(column)} AS ${quoted(column.name)}`),
    ...(id === null ? [] : [`${quoted(id.name)}::bigint AS "${ID}"`]),
  ]
  const near = touchesBox(table, boxOfTile(wish))
  const margin = `ST_TileEnvelope(${place.text}, margin => ${BUFFER / EXTENT})`
  const touches: Sql = near ?? { text: `${inGrid} && ${margin}`, values: place.values }
  const chosen: Sql = {
    text: `(hashtextextended(${sample(table)}, 0) & ${SHARES - 1}) < ?::text::int`,
    values: [String(share)],
  }
  const conditions = share >= SHARES ? [touches] : [touches, chosen]
  const where = conditions.map(({ text }) => `(${text})`).join(' AND ')
  const idName = id === null ? '' : `, '${ID}'`
  return numbered({
    text: named(
      table,
      `WITH found AS MATERIALIZED (SELECT ST_AsMVTGeom(${inGrid}, ST_TileEnvelope(${place.text}), ${EXTENT}, ${BUFFER}, true) AS "${GEOMETRY}"` +
        `${columns.map((column) => `, ${column}`).join('')} FROM ${tableName(table)} WHERE ${where} LIMIT ${MAX_FEATURES}) ` +
        `SELECT ST_AsMVT(found, ?::text, ${EXTENT}, '${GEOMETRY}'${idName}) AS tile, count(*)::float8 AS features FROM found WHERE "${GEOMETRY}" IS NOT NULL`,
    ),
    values: [...place.values, ...conditions.flatMap(({ values }) => values), layer],
  })
}

function sample(table: DatabaseTable): string {
  if (table.key.length === 0) return `ST_AsText(${quoted(table.geometry)})`
  return table.key.map(({ name }) => `coalesce(${quoted(name)}::text, '')`).join(` || ',' || `)
}

/** @param query JSON of the parameters of the request */
export function tileOfFunction(made: DatabaseFunction, { z, x, y }: TileWish, query: string): Statement {
  const name = `${quoted(made.schema)}.${quoted(made.function)}`
  const more = made.query === null ? '' : `, $4::text::${made.query}`
  return {
    text: `SELECT ${name}($1::text::int, $2::text::int, $3::text::int${more}) AS tile, 0::float8 AS features`,
    values: [String(z), String(x), String(y), ...(made.query === null ? [] : [query])],
  }
}
