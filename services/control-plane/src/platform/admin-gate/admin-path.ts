import { posix } from 'node:path'

const ADMIN_PREFIXES = ['/admin', '/api/v1/admin'] as const

/** Maximum number of decodings. After that, no server or proxy would still read the result as a path. */
const MAX_DECODINGS = 3

/**
 * True if a request belongs behind the admin gate: because of the route that matched, or because its path would reach one by the lenient
 * rules of some proxy or file server. Gating too much only costs a caller who writes `/ADMIN` a 401 instead of a 404.
 */
export function isAdminRequest(routePattern: string | undefined, rawUrl: string): boolean {
  return (routePattern !== undefined && hasAdminPrefix(routePattern)) || hasAdminPrefix(lenientPath(rawUrl))
}

function hasAdminPrefix(path: string): boolean {
  return ADMIN_PREFIXES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
}

function lenientPath(rawUrl: string): string {
  let path = rawUrl.replace(/[?#].*$/s, '')
  for (let i = 0; i < MAX_DECODINGS && path.includes('%'); i++) path = decodeLeniently(path)
  return posix.normalize(path.replaceAll('\\', '/').replaceAll(/;[^/]*/g, '')).toLowerCase()
}

/** Decodes byte by byte, so that one malformed escape does not hide the others. */
function decodeLeniently(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
