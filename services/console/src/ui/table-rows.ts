import type { Column } from './columns.js'

/** Natural order: `9` is before `10`. */
export const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export interface Sorting {
  readonly id: string
  readonly desc: boolean
}

/** Parses `name`, or `-name` for descending, the form of the API's lists. */
export function parseSorting(text: string | null): Sorting | null {
  if (text === null || text === '') return null
  return text.startsWith('-') ? { id: text.slice(1), desc: true } : { id: text, desc: false }
}

export function sortingText(sorting: Sorting | null): string | null {
  return sorting === null ? null : `${sorting.desc ? '-' : ''}${sorting.id}`
}

/** Returns the sorting after a press on a heading: numbers begin with the largest, and the third press restores the list's order. */
export function nextSorting(current: Sorting | null, { id, numeric = false }: Pick<Column<never>, 'id' | 'numeric'>) {
  if (current?.id !== id) return { id, desc: numeric }
  return current.desc === numeric ? { id, desc: !numeric } : null
}

/** Returns rows in which a column's value contains the text, in any case. */
export function filterRows<T>(rows: readonly T[], columns: readonly Column<T>[], text: string): readonly T[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return rows
  return rows.filter((row) => columns.some(({ value }) => String(value(row)).toLowerCase().includes(wanted)))
}

export function sortRows<T>(rows: readonly T[], columns: readonly Column<T>[], sorting: Sorting | null): readonly T[] {
  const column = columns.find(({ id, actions }) => id === sorting?.id && !actions)
  if (column === undefined || sorting === null) return rows
  const sign = sorting.desc ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: column.value(row) }))
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ row }) => row)
}

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b))
}
