import { CROWD_BASEMAPS } from '../gateway/crowd.js'
import type { Request } from '../load/load.js'
import { BEARER, CONNECTIONS, changedMix, LEAN, LEAST_SECONDS, mixRequests } from './requests.js'
import { plainLoad, type RequestsFor, type Workload } from './workload.js'

const MANY_CONNECTIONS = 10_000
/** Number of requests, larger than the mix: each token of the crowd occurs twice before the sequence repeats. */
const CROWD_REQUESTS = 100_000
const SETTLE_SECONDS = 3

/** Sends each request on a new connection. */
const onceEach = changedMix(({ headers, ...request }) => ({ ...request, headers: [...headers, 'Connection: close'] }))

/** Workloads with many basemaps, tokens and connections, compared with the mix. */
export const CROWD_WORKLOADS: readonly Workload[] = [
  plainLoad('connections', `The mix over ${MANY_CONNECTIONS} connections`, {
    connections: MANY_CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: mixRequests,
  }),
  plainLoad('once', 'The mix, each request on its own connection', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: onceEach,
  }),
  plainLoad('tls-mix', 'The mix over TLS', {
    connections: CONNECTIONS,
    environment: 'tls',
    leastSeconds: LEAST_SECONDS,
    requests: mixRequests,
  }),
  plainLoad('tls-once', 'The mix over TLS, a handshake for each request', {
    connections: CONNECTIONS,
    environment: 'tls',
    requests: onceEach,
  }),
  crowded('tokens', 'with 50,000 tokens in turn', [byToken]),
  crowded('basemaps', `from ${CROWD_BASEMAPS} basemaps in turn`, [byBasemap]),
  crowded('all', `with 50,000 tokens, from ${CROWD_BASEMAPS} basemaps, over ${MANY_CONNECTIONS} connections`, [
    byToken,
    byBasemap,
  ]),
  plainLoad('catalog', 'The basemaps that a token may read', {
    connections: CONNECTIONS,
    requests: catalog('/api/v1/catalog/basemaps'),
  }),
  plainLoad('catalog-crowd', `The first 3 of ${CROWD_BASEMAPS} basemaps, with 50,000 tokens in turn`, {
    connections: CONNECTIONS,
    environment: 'crowded',
    settleSeconds: SETTLE_SECONDS,
    requests: catalog('/api/v1/catalog/basemaps?limit=3'),
  }),
]

type Change = (request: Request, place: number, crowd: readonly string[]) => Request

function crowded(name: string, words: string, changes: readonly Change[]): Workload {
  return plainLoad(`crowd-${name}`, `The mix ${words}`, {
    connections: name === 'all' ? MANY_CONNECTIONS : CONNECTIONS,
    environment: 'crowded',
    leastSeconds: LEAST_SECONDS,
    settleSeconds: SETTLE_SECONDS,
    settleRequests: CROWD_REQUESTS,
    async requests(peer, context) {
      const { crowd } = peer
      const mix = await mixRequests(peer, context)
      if (mix === null || crowd === undefined) return null
      return Array.from({ length: CROWD_REQUESTS }, (_, place) =>
        changes.reduce((request, change) => change(request, place, crowd), mix[place % mix.length] as Request),
      )
    },
  })
}

function byToken({ headers, ...request }: Request, place: number, crowd: readonly string[]): Request {
  const others = headers.filter((line) => !line.startsWith(BEARER))
  return { ...request, headers: [...others, `${BEARER}${crowd[place % crowd.length]}`] }
}

/** Takes each tile always from the same basemap, so that there are no more different tiles than in the mix. */
function byBasemap({ path, ...request }: Request): Request {
  const sum = [...path].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0, 0)
  return { ...request, path: path.replace('/mix/', `/crowd-${sum % CROWD_BASEMAPS}/`) }
}

/** null if the server has no catalog. */
function catalog(path: string): RequestsFor {
  return async (peer) => {
    const { crowd = [] } = peer
    if (peer.stranger === undefined) return null
    const own = peer.headers.find((line) => line.startsWith(BEARER)) ?? ''
    const tokens = crowd.length === 0 ? [own] : crowd.map((token) => `${BEARER}${token}`)
    return tokens.map((token) => ({ path, headers: [...LEAN, token] }))
  }
}
