/**
 * Formats one line of CSV (RFC 4180); null is an empty field. Text that callers chose (names, addresses) may begin like a formula, which a spreadsheet
 * would execute. A leading apostrophe makes it plain text.
 */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: string | number | null): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
