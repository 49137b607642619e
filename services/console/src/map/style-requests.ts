import type { RequestParameters } from 'maplibre-gl'
import { TOKEN_HEADER } from '../api/preview.js'

/**
 * Transforms requests of a map for the parts of a style: those of the gateway go to this origin, with the token in a header.
 * @param bases the public URLs of the gateway's parts in the style
 */
export function styleRequests(bases: readonly string[], token: () => string | undefined) {
  return (asked: string): RequestParameters => {
    const base = bases.find((one) => asked.startsWith(`${one}/`))
    const url = base === undefined ? asked : `${window.location.origin}${asked.slice(base.length)}`
    const own = url.startsWith(`${window.location.origin}/`)
    const secret = token()
    return { url, headers: own && secret !== undefined ? { [TOKEN_HEADER]: secret } : {} }
  }
}
