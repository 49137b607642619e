/** Returns text that Postgres can store: without NUL, which its type excludes, and without unpaired surrogates, which UTF-8 excludes. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Applies `cleanText` to every text of a JSON value, keys included. */
export function cleanJson<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T
  if (Array.isArray(value)) return value.map(cleanJson) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanJson(inner)])) as T
}
