/** Returns rows as CSV (RFC 4180) with one column for each field of the API. Lists are separated by blanks, and objects are JSON. */
export function csvOf(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => names.map((name) => (row as Readonly<Record<string, unknown>>)[name]))
  return [names, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')
}

/** First characters that make a spreadsheet read a cell as a formula. */
const FORMULA = /^[=+\-@\t\r]/

function cellOf(value: unknown): string {
  const text = textOf(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Makes the browser save a text as a file. */
export function saveText(name: string, type: string, text: string): void {
  // Spreadsheets recognize UTF-8 only by its byte order mark.
  const url = URL.createObjectURL(new Blob(['\uFEFF', text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
