import type { IndexField } from './index-description.js'

/** Returns a name as an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Limit: whole numbers that JavaScript represents exactly. */
const EXACT = Number.MAX_SAFE_INTEGER

/** Returns the expression that selects a field's values. Whole numbers that exceed the range of JavaScript become texts. */
export function shownColumn({ column, type }: Pick<IndexField, 'column' | 'type'>): string {
  const name = quoted(column)
  if (type !== 'integer') return name
  return `CASE WHEN ${name} NOT BETWEEN -${EXACT} AND ${EXACT} THEN CAST(${name} AS TEXT) ELSE ${name} END`
}
