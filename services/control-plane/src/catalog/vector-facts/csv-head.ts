import { guessEncoding } from './guess-encoding.js'
import { MAX_NAME } from './limits.js'

/** How a CSV holds its coordinates: columns by their names. */
export interface CsvGeometry {
  readonly columns: { readonly x: string; readonly y: string } | { readonly wkt: string }
  /** the names say longitude and latitude */
  readonly isGeographic: boolean
  /** of the whole file; null: it is not known */
  readonly encoding: 'UTF-8' | 'GBK' | null
}

/** Names of columns, in lower case, in pairs. */
const GEOGRAPHIC = [
  ['lon', 'lat'],
  ['lng', 'lat'],
  ['long', 'lat'],
  ['longitude', 'latitude'],
  ['经度', '纬度'],
] as const
const OTHER = [
  ['x', 'y'],
  ['easting', 'northing'],
  ['point_x', 'point_y'],
  ['coord_x', 'coord_y'],
  ['xcoord', 'ycoord'],
] as const
const WKT = ['wkt', 'wkt_geom', 'geom_wkt', 'the_geom', 'geometry', 'geom']
/** A text in Well-Known Text; other columns of these names hold something else. */
const IS_WKT = /^(?:SRID=\d{1,6};)? ?(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\b/i

/** What the first lines of a CSV say of its coordinates. null: it has none, or is none. */
export function csvGeometry(head: Buffer): CsvGeometry | null {
  const guess = guessEncoding(head)
  const encoding = guess === 'ASCII' ? 'UTF-8' : guess === 'UTF-8' || guess === 'GBK' ? guess : null
  const text = new TextDecoder(encoding === 'GBK' ? 'gbk' : encoding === null ? 'windows-1252' : 'utf-8').decode(head)
  const [first = '', second = ''] = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/, 2)
  const separator = [',', ';', '\t', '|'].reduce(
    (best, one) => (count(first, one) > count(best === '' ? '' : first, best) ? one : best),
    '',
  )
  if (separator === '') return null
  const names = first.split(separator).map(unquoted)
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted && isPlain(name))
  for (const [pairs, isGeographic] of [
    [GEOGRAPHIC, true],
    [OTHER, false],
  ] as const) {
    for (const [wantedX, wantedY] of pairs) {
      const [x, y] = [find(wantedX), find(wantedY)]
      if (x !== undefined && y !== undefined) return { columns: { x, y }, isGeographic, encoding }
    }
  }
  const wkt = WKT.map(find).find((name) => name !== undefined)
  const isText = second.split(separator).some((value) => IS_WKT.test(unquoted(value)))
  return wkt !== undefined && isText ? { columns: { wkt }, isGeographic: false, encoding } : null
}

function count(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1
}

function unquoted(name: string): string {
  return name
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim()
}

/** A name that goes into an option of GDAL as it is: there a comma separates names, and a star stands for any letters. */
function isPlain(name: string): boolean {
  return name.length <= MAX_NAME && /^[\p{L}\p{N}_]+$/u.test(name)
}
