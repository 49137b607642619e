type WithDates<T> = { readonly [K in keyof T]: unknown }

/** A row as JSON represents it, with its dates as ISO 8601 texts. The caller says which type its columns make. */
export function isoDates<T>(row: WithDates<T>): T {
  const entries = Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(entries) as T
}
