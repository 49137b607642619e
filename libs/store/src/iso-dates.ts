type WithDates<T> = { readonly [K in keyof T]: unknown }

/** Converts a row to its JSON form, with dates as ISO 8601 texts. The caller states the resulting type. */
export function isoDates<T>(row: WithDates<T>): T {
  const entries = Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(entries) as T
}
