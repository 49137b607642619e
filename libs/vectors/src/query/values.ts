import type { IndexField } from '../index-file/index-description.js'
import type { SqlRow } from './items-query.js'

/** Values of attributes in responses and forms. */

export type Cell = SqlRow[number]

/** A column of a form that has the same columns for all layers. */
export interface SharedColumn {
  readonly name: string
  readonly type: IndexField['type']
  /** the fields of the layers, by their positions */
  readonly fields: readonly { readonly at: number; readonly type: IndexField['type'] }[]
}

/** Returns one column for all fields that a feature shows by the same name. Numbers share a column of doubles, and other types one of JSON. */
export function sharedColumns(fields: readonly IndexField[]): SharedColumn[] {
  const columns = new Map<string, SharedColumn>()
  for (const [at, { name, shown = name, type }] of fields.entries()) {
    const known = columns.get(shown)
    const shared = known === undefined || known.type === type ? type : commonType(known.type, type)
    columns.set(shown, { name: shown, type: shared, fields: [...(known?.fields ?? []), { at, type }] })
  }
  return [...columns.values()]
}

function commonType(a: IndexField['type'], b: IndexField['type']): IndexField['type'] {
  const isNumber = (type: IndexField['type']) => type === 'number' || type === 'integer'
  return isNumber(a) && isNumber(b) ? 'number' : 'json'
}

/** Returns a value as JSON. */
export function jsonOf(type: IndexField['type'], value: Cell): string {
  if (value === null || value instanceof Uint8Array) return 'null'
  if (type === 'boolean') return value === 0 || value === '0' ? 'false' : 'true'
  // Numbers that a double does not hold.
  if ((type === 'integer' || type === 'number') && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
    return value
  if (type === 'json' && typeof value === 'string' && isJson(value)) return value
  return JSON.stringify(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns a value for forms without JSON, in which a text among values of other types has no quotes. */
export function plainText(type: IndexField['type'], value: string | number): string {
  const text = String(value)
  return type === 'json' && text.startsWith('"') && isJson(text) ? String(JSON.parse(text)) : text
}
