import { seededRandom } from '../data/random.js'
import { type Address, sampleTraffic } from '../data/traffic.js'
import type { Request } from '../load/load.js'
import { type Basemap, type RunningPeer, urlOf } from '../peers/peer.js'
import type { RequestsFor } from './workload.js'

export const SEED = 7
/** Number of requests before the sequence repeats: each tile of the mix occurs about five times. */
const MIX_REQUESTS = 20_000
export const CONNECTIONS = 64
/** Minimum duration of the mix: edge and nginx check a file again after 10 s, which a short sample would contain too often or not at all. */
export const LEAST_SECONDS = 9
/** Little more than the required headers. */
export const LEAN = ['User-Agent: Mozilla/5.0 (X11; Linux x86_64)', 'Accept: */*']
export const BEARER = 'Authorization: Bearer '

export const mixRequests: RequestsFor = async (peer, { data }) =>
  tileRequests(peer, 'mix', sampleTraffic(seededRandom(SEED), data.tiles, MIX_REQUESTS))

/** null if the server does not have the basemap. */
export function tileRequests(peer: RunningPeer, basemap: Basemap, tiles: readonly Address[]): Request[] | null {
  const requests: Request[] = []
  for (const tile of tiles) {
    const path = peer.tilePath(basemap, tile)
    if (path === null) return null
    requests.push({ path, headers: [...LEAN, ...peer.headers] })
  }
  return requests
}

/** Returns the token of a server's requests; undefined if the server needs none. */
export function tokenOf({ headers }: RunningPeer): string | undefined {
  return headers.find((line) => line.startsWith(BEARER))?.slice(BEARER.length)
}

/** Returns the mix with each request changed; null if the server, or one of its responses, lacks data for the change. */
export function changedMix(
  change: (request: Request, place: number, peer: RunningPeer) => Request | null | Promise<Request | null>,
): RequestsFor {
  return async (peer, context) => {
    const requests = (await mixRequests(peer, context)) ?? []
    const changed: Request[] = []
    for (const [place, request] of requests.entries()) {
      const next = await change(request, place, peer)
      if (next === null) return null
      changed.push(next)
    }
    return changed.length === 0 ? null : changed
  }
}

/** Reads header fields of the response to a request, once per path. */
export function answeredField(name: string): (peer: RunningPeer, request: Request) => Promise<string | null> {
  const known = new Map<string, Promise<string | null>>()
  return (peer, { path, headers }) => {
    const url = `${urlOf(peer)}${path}`
    const asked = known.get(url) ?? ask(url, headers, name)
    known.set(url, asked)
    return asked
  }
}

async function ask(url: string, headers: readonly string[], name: string): Promise<string | null> {
  const fields = headers.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])
  const answer = await fetch(url, { headers: fields })
  await answer.arrayBuffer()
  return answer.headers.get(name)
}
