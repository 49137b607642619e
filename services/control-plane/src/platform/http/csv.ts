/**
 * One line of CSV (RFC 4180); null is an empty field. What strangers chose (names, addresses) may begin like a formula, which a spreadsheet would
 * carry out: an apostrophe before it makes it a text.
 */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: string | number | null): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
