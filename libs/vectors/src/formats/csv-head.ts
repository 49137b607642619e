import { guessEncoding } from './guess-encoding.js'

/** The columns of a CSV that hold its coordinates. */
export interface CsvGeometry {
  readonly columns: { readonly x: string; readonly y: string } | { readonly wkt: string }
  /** true if the names mean longitude and latitude */
  readonly isGeographic: boolean
  /** encoding of the whole file; null if unknown */
  readonly encoding: 'UTF-8' | 'GBK' | null
  readonly separator: string
}

/** Pairs of column names, in lower case. */
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
/** Matches Well-Known Text. Other content in a column of such a name does not count. */
const IS_WKT = /^(?:SRID=\d{1,6};)?\s{0,9}(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\b/i

/** Finds the coordinates of a CSV by its first lines; null if it has none, or is not CSV. */
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
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted)
  for (const [pairs, isGeographic] of [
    [GEOGRAPHIC, true],
    [OTHER, false],
  ] as const) {
    for (const [wantedX, wantedY] of pairs) {
      const [x, y] = [find(wantedX), find(wantedY)]
      if (x !== undefined && y !== undefined) return { columns: { x, y }, isGeographic, encoding, separator }
    }
  }
  const wkt = WKT.map(find).find((name) => name !== undefined)
  // A quoted text may hold the separator.
  const isText = second.split(separator).some((value) => IS_WKT.test(value.trim().replace(/^"/, '')))
  return wkt !== undefined && isText ? { columns: { wkt }, isGeographic: false, encoding, separator } : null
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
