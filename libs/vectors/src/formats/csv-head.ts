import { type CsvGeometry, splitCsv } from './csv.js'
import { DamagedFile } from './feature.js'
import { guessEncoding } from './guess-encoding.js'

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
const IS_WKT = /^(?:SRID=\d{1,6};)?\s{0,9}(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)(?:ZM?|M)?\b/i
/** Matches a quoted cell, which may hold separators and ends of lines. */
const QUOTED = /"[^"]*"/g

/** Finds the coordinates of a CSV by its first lines; null if it has none, or is not CSV. */
export function csvGeometry(head: Buffer): CsvGeometry | null {
  const guess = guessEncoding(head)
  const encoding = guess === 'ASCII' ? 'UTF-8' : guess === 'UTF-8' || guess === 'GBK' ? guess : null
  const decoded = new TextDecoder(encoding === 'GBK' ? 'gbk' : encoding === null ? 'windows-1252' : 'utf-8').decode(
    head,
  )
  const text = decoded.replace(/^\uFEFF/, '')
  const [line = ''] = text
    .replaceAll(QUOTED, '')
    .replace(/^[\r\n]+/, '')
    .split(/[\r\n]/, 1)
  const separator = [',', ';', '\t', '|'].reduce(
    (best, one) => (count(line, one) > count(best === '' ? '' : line, best) ? one : best),
    '',
  )
  if (separator === '') return null
  const [first = [], ...rows] = rowsOf(text, separator)
  const names = first.map((name) => name.trim())
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
  const isText = (name: string) => rows.some((row) => IS_WKT.test(row[names.indexOf(name)]?.trim() ?? ''))
  const wkt = WKT.map(find).find((name) => name !== undefined && isText(name))
  if (wkt === undefined) return null
  // The EWKT of PostGIS, whose code is that of EPSG.
  const codes = new Set(rows.map((row) => /^SRID=(\d{1,6});/i.exec(row[names.indexOf(wkt)]?.trim() ?? '')?.[1]))
  const [epsg] = codes.size === 1 ? codes : []
  return { columns: { wkt }, isGeographic: false, encoding, separator, ...(epsg !== undefined && { epsg }) }
}

/** Returns the whole rows of a text that may end in one. */
function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = []
  try {
    for (const row of splitCsv([Buffer.from(text)], separator)) rows.push(row)
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
  }
  return rows
}

function count(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1
}
