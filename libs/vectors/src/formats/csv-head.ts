import { type CsvGeometry, splitCsv } from './csv.js'
import { DamagedFile } from './feature.js'
import { epsgOfText, isGeometryText } from './geometry-text.js'
import { guessEncoding } from './guess-encoding.js'
import { decodedHead } from './text-pieces.js'

/** Pairs of column names, in lower case. */
const GEOGRAPHIC = [
  ['lon', 'lat'],
  ['lng', 'lat'],
  ['long', 'lat'],
  ['longitude', 'latitude'],
  ['经度', '纬度'],
  ['經度', '緯度'],
  ['経度', '緯度'],
  ['längengrad', 'breitengrad'],
  ['longitud', 'latitud'],
  ['longitudine', 'latitudine'],
  ['долгота', 'широта'],
  ['경도', '위도'],
  // Darwin Core, as GBIF exports it
  ['decimallongitude', 'decimallatitude'],
] as const
const OTHER = [
  ['x', 'y'],
  ['easting', 'northing'],
  ['point_x', 'point_y'],
  ['coord_x', 'coord_y'],
  ['xcoord', 'ycoord'],
] as const
/** Columns of geometries. Other content in a column of such a name does not count. */
const GEOMETRIES = [
  ...['wkt', 'wkt_geom', 'geom_wkt', 'the_geom', 'geometry', 'geom', 'geometry_wkt'],
  ...['wkb', 'wkb_geometry', 'wkb_geom', 'geojson', 'geog'],
]
/** Matches the line by which spreadsheets name the separator, and the end of the line. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?[,;\t|]{0,99}(?:\r\n|\r|\n)/i
/** Matches a quoted cell, which may hold separators and ends of lines. */
const QUOTED = /"[^"]*"/g

/** Finds the coordinates of a CSV by its first lines; null if it has none, or is not CSV. @param guess the encoding of the whole file; null: unknown */
export function csvGeometry(head: Buffer, guess: string | null = guessEncoding(head)): CsvGeometry | null {
  const encoding = guess === 'ASCII' ? 'UTF-8' : guess
  const decoded = decodedHead(head, encoding)
  const told = SEPARATOR_LINE.exec(decoded)
  const text = told === null ? decoded : decoded.slice(told[0].length)
  const [line = ''] = text
    .replaceAll(QUOTED, '')
    .replace(/^[\r\n]+/, '')
    .split(/[\r\n]/, 1)
  const separator =
    told?.[1] ??
    [',', ';', '\t', '|'].reduce(
      (best, one) => (count(line, one) > count(best === '' ? '' : line, best) ? one : best),
      '',
    )
  // A table with no attributes has one column.
  const form = { encoding, separator: separator || ',', namesSeparator: told !== null }
  const [first = [], ...rows] = rowsOf(text, form.separator)
  const names = first.map((name) => name.trim())
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted)
  for (const [pairs, isGeographic] of [
    [GEOGRAPHIC, true],
    [OTHER, false],
  ] as const) {
    for (const [wantedX, wantedY] of pairs) {
      const [x, y] = [find(wantedX), find(wantedY)]
      if (x !== undefined && y !== undefined) return { columns: { x, y }, isGeographic, ...form }
    }
  }
  const texts = (name: string) =>
    rows.map((row) => row[names.indexOf(name)]?.trim() ?? '').filter((cell) => cell !== '')
  const column = GEOMETRIES.map(find).find((name) => name !== undefined && texts(name).some(isGeometryText))
  if (column === undefined) return null
  const codes = new Set(texts(column).map(epsgOfText))
  const [epsg] = codes.size === 1 ? codes : []
  return { columns: { text: column }, isGeographic: false, ...form, ...(epsg !== undefined && { epsg }) }
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
