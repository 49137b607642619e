import type { RequestParameters } from 'maplibre-gl'
import { TOKEN_HEADER } from '../api/preview.js'

/**
 * How a map of the console asks for the parts of a style: those of the gateway of this origin, with the token in a header.
 * @param bases the public addresses that parts of the gateway have in the style
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
