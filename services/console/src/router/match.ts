export type Params = Readonly<Record<string, string>>

/** Returns the values of the `:name` parts of a pattern, or null if the path does not match. `*` matches every path. */
export function matchPath(pattern: string, pathname: string): Params | null {
  if (pattern === '*') return {}
  const parts = segmentsOf(pattern)
  const found = segmentsOf(pathname)
  if (parts.length !== found.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    const value = decoded(found[i] ?? '')
    if (part.startsWith(':')) params[part.slice(1)] = value
    else if (part !== value) return null
  }
  return params
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
