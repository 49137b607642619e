import { isDeepStrictEqual } from 'node:util'

/** Limit: entries of a list in an audit row; of a longer one the row has the number. */
const MAX_AUDITED_ENTRIES = 100

export interface Differences {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** The fields that differ, as an audit entry has them; null: none does. `before` null: it did not exist, and every field is new. */
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
