/**
 * Returns the columns of a Markdown table, padded so that it is readable as plain text. The first column is text, the others are figures. Cells that a row
 * lacks are empty.
 */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => (row[i] ?? '').length)))
  const pad = (cell: string, i: number): string => {
    const width = widths[i] ?? 0
    return i === 0 ? cell.padEnd(width) : cell.padStart(width)
  }
  const line = (cells: readonly string[]): string => `| ${head.map((_, i) => pad(cells[i] ?? '', i)).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

/** Formats a figure with three significant digits and thousands separators; empty for undefined. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ''
  if (value >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-GB')
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
