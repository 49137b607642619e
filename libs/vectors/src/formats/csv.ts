import { StringDecoder } from 'node:string_decoder'
import { crsOfEpsg, WGS84 } from './crs.js'
import { DamagedFile, type FieldType, type SourceFeature, type SourceLayer, type SourceValue } from './feature.js'
import { writeGeometryText } from './geometry-text.js'
import { Seen, seenInText, seenInWhole, typeOfSeen, wholeNumber } from './json-values.js'
import { type TextFile, utf8Pieces } from './text-pieces.js'
import { POINT, WkbWriter } from './wkb-writer.js'

/** The columns of a CSV that hold its coordinates. */
export interface CsvGeometry {
  readonly columns: { readonly x: string; readonly y: string } | { readonly text: string }
  /** true if the names mean longitude and latitude */
  readonly isGeographic: boolean
  /** code of the coordinate system that each text of the first rows names */
  readonly epsg?: string
  /** encoding of the whole file; null if unknown */
  readonly encoding: string | null
  readonly separator: string
  /** true if the first line only names the separator, as spreadsheets write it */
  readonly namesSeparator: boolean
}

/** Maximum characters of one row. A quote that is never closed ends there. */
const MAX_ROW = 64 * 1024 * 1024

/** Numbers that come back as they are, apart from zeros at the end of their fraction. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,17})?$/

/** Opens the only layer of a CSV with coordinates. Reads it once for the types of its columns. */
export function csvLayer(file: TextFile, name: string, geometry: CsvGeometry, progress: () => void): SourceLayer {
  const rows = function* () {
    let isNext = !geometry.namesSeparator
    for (const row of splitCsv(utf8Pieces(file, geometry.encoding, progress), geometry.separator)) {
      if (isNext) yield row
      isNext = true
    }
  }
  let names: string[] | null = null
  const seen: number[] = []
  let count = 0
  for (const row of rows()) {
    if (names === null) names = row.map((one, i) => one.trim() || `field_${i + 1}`)
    else {
      count++
      for (let i = 0; i < names.length; i++) seen[i] = (seen[i] ?? 0) | seenInCell(row[i] ?? '')
    }
  }
  const fields = (names ?? []).map((field, i) => ({ name: field, type: typeOfCells(seen[i] ?? 0) }))
  return {
    name,
    fields,
    crs: geometry.isGeographic ? WGS84 : geometry.epsg === undefined ? null : crsOfEpsg(geometry.epsg, null),
    count,
    features: () =>
      readFeatures(
        rows(),
        fields.map(({ type }) => type),
        names ?? [],
        geometry,
      ),
  }
}

export function seenInCell(cell: string): number {
  if (cell === '') return 0
  const whole = wholeNumber(cell)
  if (whole !== null) return seenInWhole(whole)
  if (NUMBER.test(cell)) return Seen.fraction
  return seenInText(cell)
}

/** Numbers among texts are texts. Long whole numbers among fractions stay exact as texts. */
export function typeOfCells(seen: number): FieldType {
  if ((seen & (Seen.text | Seen.whole | Seen.fraction)) === 0) return 'string'
  const type = typeOfSeen(seen)
  return type === 'json' || ((seen & Seen.text) !== 0 && (seen & (Seen.whole | Seen.fraction)) !== 0) ? 'string' : type
}

function* readFeatures(
  rows: Iterable<string[]>,
  types: readonly FieldType[],
  names: readonly string[],
  { columns }: CsvGeometry,
): Generator<SourceFeature, void> {
  const writer = new WkbWriter()
  const at = 'text' in columns ? [names.indexOf(columns.text)] : [names.indexOf(columns.x), names.indexOf(columns.y)]
  let row = -1
  for (const cells of rows) {
    if (++row === 0) continue
    const [first = '', second = ''] = at.map((i) => cells[i]?.trim() ?? '')
    writer.begin()
    const isEmpty = first === '' && second === ''
    const isWritten =
      !isEmpty && ('text' in columns ? writeGeometryText(first, writer) : writePoint(first, second, writer))
    yield {
      id: null,
      row,
      geometry: isWritten ? writer.end() : null,
      isDamaged: !isEmpty && !isWritten,
      values: types.map((type, i) => valueOfCell(cells[i] ?? null, type)),
    }
  }
}

function writePoint(x: string, y: string, writer: WkbWriter): boolean {
  const [longitude, latitude] = [toNumber(x), toNumber(y)]
  if (Number.isNaN(longitude) || Number.isNaN(latitude)) return false
  writer.head(POINT)
  writer.pair(longitude, latitude)
  return true
}

/** Matches a decimal number. A comma is the decimal separator of many spreadsheets. */
const COORDINATE = /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i

function toNumber(text: string): number {
  return COORDINATE.test(text) ? Number(text.replace(',', '.')) : Number.NaN
}

export function valueOfCell(cell: string | null, type: FieldType): SourceValue {
  if (cell === null) return null
  if (type === 'string') return cell
  if (cell === '') return null
  if (type === 'integer') return wholeNumber(cell)
  return type === 'number' ? Number(cell) : cell
}

/** Yields the rows of a CSV (RFC 4180) without empty ones, with any end of line. */
export function* splitCsv(pieces: Iterable<Buffer>, separator: string): Generator<string[], void> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  let at = 0
  let row: string[] = []
  let rows = 0
  const end = function* (): Generator<string[], void> {
    if (row.length > 1 || row[0] !== '') {
      rows++
      yield row
    }
    row = []
  }
  /** Returns the end of the cell at the position, or -1 if the text ends before it. */
  const cell = (isLast: boolean): number => {
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      // Two quotes stand for one.
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      if (close < 0 || (close + 1 >= text.length && !isLast)) return -1
      let stop = close + 1
      while (stop < text.length && text[stop] !== separator && text[stop] !== '\n' && text[stop] !== '\r') stop++
      if (stop >= text.length && !isLast) return -1
      row.push(text.slice(at + 1, close).replaceAll('""', '"') + text.slice(close + 1, stop).trimEnd())
      return stop
    }
    let stop = at
    for (; stop < text.length; stop++) {
      const char = text[stop]
      if (char === separator || char === '\n' || char === '\r') break
    }
    if (stop >= text.length && !isLast) return -1
    row.push(text.slice(at, stop))
    return stop
  }
  const take = function* (isLast: boolean): Generator<string[], void> {
    while (at < text.length || (isLast && row.length > 0)) {
      const before = row.length
      const stop = cell(isLast)
      if (stop < 0) break
      const char = text[stop]
      // The second character of the end of a line may come with the next piece.
      if (char === '\r' && stop + 1 >= text.length && !isLast) {
        row.length = before
        break
      }
      at = stop + (char === '\r' && text[stop + 1] === '\n' ? 2 : 1)
      if (char !== separator) yield* end()
      else if (isLast && at >= text.length) {
        row.push('')
        yield* end()
      }
    }
    text = text.slice(at)
    at = 0
    if (text.length > MAX_ROW || (isLast && text !== '')) throw new DamagedFile(rows, 'a quote is not closed')
  }
  for (const piece of pieces) {
    text += decoder.write(piece)
    yield* take(false)
  }
  text += decoder.end()
  yield* take(true)
}
