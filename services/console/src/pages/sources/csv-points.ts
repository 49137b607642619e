/** Names of columns with coordinates, in lower case. */
const LONGITUDES = ['lon', 'lng', 'long', 'longitude', 'x', '经度']
const LATITUDES = ['lat', 'latitude', 'y', '纬度']
/** Limit: a file of this size takes seconds and a few times its size of memory. */
export const MAX_CSV_BYTES = 100 * 1024 * 1024

/**
 * Makes GeoJSON points of a CSV (RFC 4180; commas, semicolons or tabs) with columns of longitude and latitude in degrees. Returns how many rows
 * have no valid coordinates; null: the columns are missing.
 */
export function pointsOfCsv(text: string): { readonly geojson: string; readonly skipped: number } | null {
  const [header = [], ...rows] = rowsOf(text.replace(/^\uFEFF/, ''))
  const names = header.map((name) => name.trim())
  const column = (wanted: readonly string[]) => names.findIndex((name) => wanted.includes(name.toLowerCase()))
  const [lonAt, latAt] = [column(LONGITUDES), column(LATITUDES)]
  if (lonAt < 0 || latAt < 0) return null
  let skipped = 0
  const features: string[] = []
  for (const row of rows) {
    const [lon, lat] = [degrees(row[lonAt], 180), degrees(row[latAt], 90)]
    if (lon === null || lat === null) skipped++
    else {
      const own = names.flatMap((name, i) => (i === lonAt || i === latAt ? [] : [[name, fieldValue(row[i] ?? '')]]))
      const geometry = { type: 'Point', coordinates: [lon, lat] }
      features.push(JSON.stringify({ type: 'Feature', geometry, properties: Object.fromEntries(own) }))
    }
  }
  return { geojson: `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}`, skipped }
}

function degrees(text: string | undefined, most: number): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Math.abs(value) <= most ? value : null
}

/** A number stays text if its digits would change: codes often begin with a zero. */
function fieldValue(text: string): string | number | null {
  if (text === '') return null
  return String(Number(text)) === text ? Number(text) : text
}

function rowsOf(text: string): string[][] {
  const end = text.indexOf('\n')
  const first = end < 0 ? text : text.slice(0, end)
  const separator = [',', ';', '\t'].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a))
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    let field = ''
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      if (close < 0) close = text.length
      field = text.slice(at + 1, close).replaceAll('""', '"')
      at = close + 1
    }
    const from = at
    while (at < text.length && text[at] !== separator && text[at] !== '\n') at++
    field += text.slice(from, at).replace(/\r$/, '')
    row.push(field)
    if (text[at] !== separator) {
      if (row.length > 1 || field !== '') rows.push(row)
      row = []
    }
    at++
  }
  if (row.length > 0) rows.push([...row, ''])
  return rows
}
