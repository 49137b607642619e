import { isDeepStrictEqual } from 'node:util'

/** Maximum number of list entries in an audit row. For a longer list the row contains only the number. */
const MAX_AUDITED_ENTRIES = 100

export interface Differences {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** Returns the fields that differ, in the form of an audit entry, or null. `before` null: the object is new, and so is every field. */
export function differences<T extends object>(before: T | null, after: T): Differences | null {
  const fields = (Object.keys(after) as (keyof T & string)[]).filter(
    (name) => before === null || !isDeepStrictEqual(before[name], after[name]),
  )
  if (fields.length === 0) return null
  const pick = (from: T) => Object.fromEntries(fields.map((name) => [name, audited(from[name])]))
  return { before: before === null ? {} : pick(before), after: pick(after) }
}

function audited(value: unknown): unknown {
  return Array.isArray(value) && value.length > MAX_AUDITED_ENTRIES ? { entries: value.length } : value
}
