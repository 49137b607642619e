import { createToken } from '@gateway/access/token-format.js'
import { LARGE_BODIES } from '../data/data-set.js'
import { seededRandom } from '../data/random.js'
import { type Address, sampleEvenly, sampleTraffic } from '../data/traffic.js'
import { mistyped } from '../load/bad-tokens.js'
import type { Request } from '../load/load.js'
import type { Basemap, RunningPeer } from '../peers/peer.js'
import { beside } from './beside.js'
import { slowDownloads } from './slow-downloads.js'
import { plainLoad, type RequestsFor, type Workload } from './workload.js'

const SEED = 7
/** Requests before the sequence begins again: each tile of the mix comes about five times. */
const MIX_REQUESTS = 20_000
/** Mistyped tokens, each another one. */
const MISTYPED_TOKENS = 20_000
/** Unknown ones, few enough to be remembered after they were asked for once: what a client with a withdrawn token makes of it. */
const UNKNOWN_TOKENS = 1_000
const LARGE_REQUESTS = 1_000
const MANY_REQUESTS = 200_000
const FLOOD_RATE = 2_000
const FLOOD_TOKENS = 50_000
const CONNECTIONS = 64
/** For the mix: edge and nginx look at a file again after 10 s, and in a short sample that would come too often or not at all. */
const LEAST_SECONDS = 9
/** Large bodies fill the socket buffers: more connections measure the kernel's memory. */
const LARGE_CONNECTIONS = 16
const DOWNLOAD_CONNECTIONS = 4
/** What a browser sends beside what the server needs. */
const BROWSER = ['User-Agent: Mozilla/5.0 (X11; Linux x86_64)']

export const mixRequests: RequestsFor = async (peer, { data }) =>
  tileRequests(peer, 'mix', sampleTraffic(seededRandom(SEED), data.tiles, MIX_REQUESTS))

export const largeDownload: RequestsFor = async (peer) => {
  const path = peer.downloadPath('large')
  return path === null ? null : [{ path, headers: [...BROWSER, ...peer.headers] }]
}

/** In the order in which they are reported. */
export const WORKLOADS: readonly Workload[] = [
  plainLoad('mix', 'Realistic mix of tiles, files of 1 to 60 KB', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: mixRequests,
  }),
  plainLoad('mix-revised', 'The mix, each address with a revision, as TileJSON gives it', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: revised,
  }),
  plainLoad('mix-revised-query', 'The same with the token in the query as well', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: revisedWithToken,
  }),
  plainLoad('hot', 'One tile of the mean size, again and again', {
    connections: CONNECTIONS,
    requests: async (peer, { data }) => tileRequests(peer, 'mix', [data.hotTile]),
  }),
  plainLoad('not-modified', 'The mix, every request with the tag that the client has: 304', {
    connections: CONNECTIONS,
    status: 304,
    leastSeconds: LEAST_SECONDS,
    requests: notModified,
  }),
  plainLoad('refused-checksum', 'Mistyped tokens, each another one: 401', {
    connections: CONNECTIONS,
    status: 401,
    requests: (peer, { data }) => refused(peer, data.hotTile, MISTYPED_TOKENS, mistyped),
  }),
  plainLoad('refused-unknown', 'Well-formed tokens that nobody has, asked for again and again: 401', {
    connections: CONNECTIONS,
    status: 401,
    requests: (peer, { data }) => refused(peer, data.hotTile, UNKNOWN_TOKENS, createToken),
  }),
  ...(['mixmb', 'mixpm'] as const).map((basemap) =>
    plainLoad(basemap, `The same mix from ${basemap === 'mixmb' ? 'MBTiles' : 'PMTiles'}`, {
      connections: CONNECTIONS,
      requests: async (peer, { data }) =>
        tileRequests(peer, basemap, sampleTraffic(seededRandom(SEED), data.tiles, MIX_REQUESTS)),
    }),
  ),
  ...Object.keys(LARGE_BODIES).map((size) =>
    plainLoad(`body-${size}`, `Tiles of ${size.toUpperCase()}B`, {
      connections: LARGE_CONNECTIONS,
      requests: async (peer, { data }) =>
        tileRequests(peer, `b${size}`, sampleEvenly(seededRandom(SEED), data.largeTiles, LARGE_REQUESTS)),
    }),
  ),
  plainLoad('many', 'Files that are in the page cache, but in no memory of the server: 40,000, evenly', {
    connections: CONNECTIONS,
    requests: async (peer, { data }) =>
      tileRequests(peer, 'many', sampleEvenly(seededRandom(SEED), data.manyTiles, MANY_REQUESTS)),
  }),
  plainLoad('download', 'Downloads of 200 MB', { connections: DOWNLOAD_CONNECTIONS, requests: largeDownload }),
  beside(
    'beside-downloads',
    'The mix beside 8 downloads at full speed',
    { requests: mixRequests, connections: 16 },
    { requests: largeDownload, connections: 8 },
  ),
  slowDownloads,
  beside(
    'beside-flood',
    `The mix beside ${FLOOD_RATE} unknown tokens a second: a scanner at work, not a full link`,
    { requests: mixRequests, connections: CONNECTIONS },
    {
      requests: (peer, { data }) => refused(peer, data.hotTile, FLOOD_TOKENS, createToken),
      connections: 32,
      rate: FLOOD_RATE,
      status: 401,
    },
    LEAST_SECONDS,
  ),
]

/** null where the server does not have the basemap. */
function tileRequests(peer: RunningPeer, basemap: Basemap, tiles: readonly Address[]): Request[] | null {
  const requests: Request[] = []
  for (const tile of tiles) {
    const path = peer.tilePath(basemap, tile)
    if (path === null) return null
    requests.push({ path, headers: [...BROWSER, ...peer.headers] })
  }
  return requests
}

/** null where the server knows no tags. */
async function notModified(...args: Parameters<RequestsFor>): Promise<Request[] | null> {
  const [peer] = args
  const requests = await mixRequests(...args)
  if (requests === null) return null
  const tags = new Map<string, string>()
  for (const { path, headers } of requests) {
    if (tags.has(path)) continue
    const tag = await entityTag(peer, path, headers)
    if (tag === null) return null
    tags.set(path, tag)
  }
  return requests.map(({ path, headers }) => ({ path, headers: [...headers, `If-None-Match: ${tags.get(path)}`] }))
}

async function entityTag(peer: RunningPeer, path: string, headers: readonly string[]): Promise<string | null> {
  const fields = headers.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])
  const answer = await fetch(`http://127.0.0.1:${peer.port}${path}`, { headers: fields })
  await answer.arrayBuffer()
  return answer.headers.get('etag')
}

const REVISION = '?v=3'
const BEARER = 'Authorization: Bearer '

/** null where addresses have no revision: that of a server without tokens is the mix. */
async function revised(...args: Parameters<RequestsFor>): Promise<Request[] | null> {
  const [peer] = args
  const requests = await mixRequests(...args)
  if (requests === null || !peer.headers.some((line) => line.startsWith(BEARER))) return null
  return requests.map(({ path, headers }) => ({ path: path + REVISION, headers }))
}

async function revisedWithToken(...args: Parameters<RequestsFor>): Promise<Request[] | null> {
  const [peer] = args
  const token = peer.headers.find((line) => line.startsWith(BEARER))?.slice(BEARER.length)
  const requests = await revised(...args)
  if (requests === null || token === undefined) return null
  return requests.map(({ path, headers }) => ({
    path: `${path}&token=${token}`,
    headers: headers.filter((line) => !line.startsWith(BEARER)),
  }))
}

/** null where the server asks for no token. */
async function refused(
  peer: RunningPeer,
  tile: Address,
  count: number,
  makeToken: () => string,
): Promise<Request[] | null> {
  const path = peer.tilePath('mix', tile)
  if (path === null || !peer.headers.some((line) => line.startsWith('Authorization:'))) return null
  return Array.from({ length: count }, () => ({
    path,
    headers: [...BROWSER, `Authorization: Bearer ${makeToken()}`],
  }))
}
