import { csvField } from '@gateway/contracts/csv.js'

/**
 * Formats one line of CSV (RFC 4180); null is an empty field. Text that callers chose (names, addresses) may begin like a formula, which a spreadsheet
 * would execute. A leading apostrophe makes it plain text.
 */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => csvField(String(value ?? ''), typeof value === 'string')).join(',')}\r\n`
}
