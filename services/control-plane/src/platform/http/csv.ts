/**
 * A table as comma-separated values (RFC 4180), with a line of names first. What a spreadsheet would take for a formula has an apostrophe before it: names
 * of files come from outside.
 */
export function csv<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, unknown>>[],
): string {
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))]
  return lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
}

function cell(value: unknown): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
