import type { HttpRequest } from '@gateway/native-edge/uws/uws.js'

/** Beginning of addresses with a token in the path: `/t/{token}/vectors/roads.zip`. */
export const TOKEN_PATH = '/t/'
/** Addresses of downloads, the only ones that have this form. */
const DOWNLOADS = ['/vectors/', '/geojson/', '/shp/', '/archives/'] as const

/** True for the path of a download, which may have a token before it. */
export function isDownload(path: string): boolean {
  return DOWNLOADS.some((beginning) => path.startsWith(beginning))
}

interface Address {
  readonly path: string
  readonly query: string
}

/**
 * Returns an address with its token in the query instead of the path, as every other part of the edge, and every log, knows it. Drivers that look at
 * the end of an address (GDAL 3.6, QGIS) do not find `.zip` in front of `?token=`. Any other address is returned unchanged.
 */
export function tokenInQuery({ path, query }: Address): Address {
  if (!path.startsWith(TOKEN_PATH)) return { path, query }
  const slash = path.indexOf('/', TOKEN_PATH.length)
  const token = `token=${encodeURIComponent(path.slice(TOKEN_PATH.length, slash === -1 ? undefined : slash))}`
  return { path: slash === -1 ? '/' : path.slice(slash), query: query === '' ? token : `${query}&${token}` }
}

/** Returns a request whose token is in its path as one that has it in its query. */
export function asDelivered(req: HttpRequest): HttpRequest {
  const { path, query } = tokenInQuery({ path: req.getUrl(), query: req.getQuery() ?? '' })
  const delivered: Omit<HttpRequest, 'setYield'> = {
    getHeader: (name) => req.getHeader(name),
    getParameter: (index) => req.getParameter(index),
    getUrl: () => path,
    getMethod: () => req.getMethod(),
    getCaseSensitiveMethod: () => req.getCaseSensitiveMethod(),
    getQuery: () => query,
    forEach: (each) => req.forEach(each),
  }
  return delivered as HttpRequest
}
