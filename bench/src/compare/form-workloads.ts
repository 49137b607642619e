import type { Request } from '../load/load.js'
import { answeredField, BEARER, CONNECTIONS, changedMix, LEAST_SECONDS, tokenOf } from './requests.js'
import { plainLoad, type RequestsFor, type Workload } from './workload.js'

/** Headers that Chromium sends for an image of a page, besides the token. */
const BROWSER = [
  'Connection: keep-alive',
  'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile: ?0',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
  'Origin: https://maps.example',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Mode: cors',
  'Sec-Fetch-Dest: empty',
  'Referer: https://maps.example/',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: en-GB,en;q=0.9,de;q=0.8',
]
const REVISION = 'v=3'

const tag = answeredField('etag')
const modified = answeredField('last-modified')

const adding = (...lines: string[]) => changedMix((request) => withLines(request, lines))
const withLines = (request: Request, lines: readonly string[]): Request => ({
  ...request,
  headers: [...request.headers, ...lines],
})
const withoutToken = ({ headers }: Request) => headers.filter((line) => !line.startsWith(BEARER))

/** The mix in other forms of request than in `mix`: the form of a client must not make a hot tile slow. */
export const FORM_WORKLOADS: readonly Workload[] = [
  form('browser', "with a browser's head", {
    requests: changedMix((request) => ({
      ...request,
      headers: [...BROWSER, ...request.headers.filter((line) => line.startsWith(BEARER))],
    })),
  }),
  form('orders', 'with the token in the query, before and behind the revision', {
    requests: changedMix((request, place, peer) => {
      const token = tokenOf(peer)
      if (token === undefined) return null
      const query = place % 2 === 0 ? `token=${token}&${REVISION}` : `${REVISION}&access_token=${token}`
      return { path: `${request.path}?${query}`, headers: withoutToken(request) }
    }),
  }),
  form('head', 'by HEAD', { requests: changedMix((request) => ({ ...request, method: 'HEAD' })) }),
  form('tags', 'with a list of weak tags, of which one is the tile: 304', {
    status: 304,
    requests: changedMix(async (request, _, peer) => {
      const known = await tag(peer, request)
      if (known === null) return null
      return withLines(request, [`If-None-Match: W/"5f3c-1", W/${known.replace(/^W\//, '')}`])
    }),
  }),
  form('since', 'with If-Modified-Since: 304', {
    status: 304,
    requests: changedMix(async (request, _, peer) => {
      const known = await modified(peer, request)
      return known === null ? null : withLines(request, [`If-Modified-Since: ${known}`])
    }),
  }),
  form('weights', 'with weights in Accept-Encoding', {
    requests: adding('Accept-Encoding: br;q=1.0, gzip;q=0.8, *;q=0.1'),
  }),
  form('basic', 'with the token as the password of Basic credentials', {
    requests: changedMix((request, _, peer) => {
      const token = tokenOf(peer)
      if (token === undefined) return null
      const credentials = Buffer.from(`qgis:${token}`).toString('base64')
      return { ...request, headers: [...withoutToken(request), `Authorization: Basic ${credentials}`] }
    }),
  }),
  form('two-places', 'with the token in two places', {
    requests: changedMix((request, _, peer) => {
      const token = tokenOf(peer)
      return token === undefined ? null : withLines(request, [`X-Access-Token: ${token}`])
    }),
  }),
  form('range', 'with Range: bytes=0-', { status: [200, 206], requests: adding('Range: bytes=0-') }),
]

function form(
  name: string,
  words: string,
  options: { readonly status?: number | readonly number[]; readonly requests: RequestsFor },
): Workload {
  const common = { connections: CONNECTIONS, leastSeconds: LEAST_SECONDS }
  return plainLoad(`form-${name}`, `The mix ${words}`, { ...common, ...options })
}
