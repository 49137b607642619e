import { createToken } from '@gateway/core/access/token-format.js'
import { LARGE_BODIES } from '../data/data-set.js'
import { below, seededRandom } from '../data/random.js'
import { type Address, sampleEvenly, sampleTraffic } from '../data/traffic.js'
import { mistyped } from '../load/bad-tokens.js'
import type { Request } from '../load/load.js'
import type { RunningPeer } from '../peers/peer.js'
import { beside } from './beside.js'
import { CROWD_WORKLOADS } from './crowd-workloads.js'
import { EVEN_WORKLOADS } from './even-workloads.js'
import { FORM_WORKLOADS } from './form-workloads.js'
import {
  answeredField,
  BEARER,
  CONNECTIONS,
  changedMix,
  LEAN,
  LEAST_SECONDS,
  mixRequests,
  SEED,
  tileRequests,
  tokenOf,
} from './requests.js'
import { SIZE_WORKLOADS } from './size-workloads.js'
import { slowDownloads } from './slow-downloads.js'
import { plainLoad, type RequestsFor, type Workload } from './workload.js'

const MIX_REQUESTS = 20_000
/** Number of addresses inside the zooms of the mix at which it has no tile. */
const MISSING_TILES = 20_000
const MISSING_ZOOM = 15
/** Number of different mistyped tokens. */
const MISTYPED_TOKENS = 20_000
/** Number of unknown tokens, few enough to be cached after their first use, like those of a client with a withdrawn token. */
const UNKNOWN_TOKENS = 1_000
const LARGE_REQUESTS = 1_000
const MANY_REQUESTS = 200_000
const FLOOD_RATE = 2_000
const FLOOD_TOKENS = 50_000
const GETTILE_RATE = 100
/** Number of connections for large bodies, which fill the socket buffers: more would measure the kernel's memory. */
const LARGE_CONNECTIONS = 16
const DOWNLOAD_CONNECTIONS = 4
const REVISION = '?v=3'
const tag = answeredField('etag')

export const largeDownload: RequestsFor = async (peer) => {
  const path = peer.downloadPath('large')
  return path === null ? null : [{ path, headers: [...LEAN, ...peer.headers] }]
}

/** Workloads in the order of the report. */
export const WORKLOADS: readonly Workload[] = [
  plainLoad('mix', 'Realistic mix of tiles, files of 1 to 60 KB', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: mixRequests,
  }),
  plainLoad('mix-revised', 'The mix, each address with a revision, as TileJSON gives it', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    // A server without tokens gets no revisions either: plain mix.
    requests: changedMix((request, _, peer) =>
      tokenOf(peer) === undefined ? null : { ...request, path: request.path + REVISION },
    ),
  }),
  plainLoad('mix-revised-query', 'The same with the token in the query as well', {
    connections: CONNECTIONS,
    leastSeconds: LEAST_SECONDS,
    requests: changedMix((request, _, peer) => {
      const token = tokenOf(peer)
      if (token === undefined) return null
      return { path: `${request.path}${REVISION}&token=${token}`, headers: without(request) }
    }),
  }),
  plainLoad('hot', 'One tile of the mean size, again and again', {
    connections: CONNECTIONS,
    requests: async (peer, { data }) => tileRequests(peer, 'mix', [data.hotTile]),
  }),
  plainLoad('not-modified', 'The mix, every request with the tag that the client has: 304', {
    connections: CONNECTIONS,
    status: 304,
    leastSeconds: LEAST_SECONDS,
    requests: changedMix(async (request, _, peer) => {
      const known = await tag(peer, request)
      return known === null ? null : { ...request, headers: [...request.headers, `If-None-Match: ${known}`] }
    }),
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
  plainLoad('refused-missing', 'No token: 401', {
    connections: CONNECTIONS,
    status: 401,
    requests: changedMix((request, _, peer) =>
      tokenOf(peer) === undefined ? null : { ...request, headers: without(request) },
    ),
  }),
  plainLoad('refused-grant', 'A token that is not granted the tiles: 403', {
    connections: CONNECTIONS,
    status: 403,
    requests: changedMix((request, _, { stranger }) =>
      stranger === undefined ? null : { ...request, headers: [...without(request), `${BEARER}${stranger}`] },
    ),
  }),
  plainLoad('missing', 'Tiles that do not exist, each another one: 404', {
    connections: CONNECTIONS,
    status: 404,
    requests: missing(MISSING_TILES),
  }),
  plainLoad('missing-many', `The same, ${MANY_REQUESTS} of them: more than are known to be missing`, {
    connections: CONNECTIONS,
    status: 404,
    requests: missing(MANY_REQUESTS),
  }),
  ...FORM_WORKLOADS,
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
  ...EVEN_WORKLOADS,
  ...CROWD_WORKLOADS,
  ...SIZE_WORKLOADS,
  plainLoad('download', 'Downloads of 200 MB', { connections: DOWNLOAD_CONNECTIONS, requests: largeDownload }),
  beside(
    'beside-downloads',
    'The mix next to 8 downloads at full speed',
    { requests: mixRequests, connections: 16 },
    { requests: largeDownload, connections: 8 },
  ),
  slowDownloads,
  beside(
    'beside-flood',
    `The mix next to ${FLOOD_RATE} unknown tokens a second: a scanner at work, not a full link`,
    { requests: mixRequests, connections: CONNECTIONS },
    {
      requests: (peer, { data }) => refused(peer, data.hotTile, FLOOD_TOKENS, createToken),
      connections: 32,
      rate: FLOOD_RATE,
      status: 401,
    },
    LEAST_SECONDS,
  ),
  beside(
    'beside-gettile',
    `The mix next to ${GETTILE_RATE} GetTile a second of a WMTS client`,
    { requests: mixRequests, connections: CONNECTIONS },
    {
      requests: changedMix((request, _, peer) => (tokenOf(peer) === undefined ? null : asGetTile(request))),
      connections: 8,
      rate: GETTILE_RATE,
    },
    LEAST_SECONDS,
  ),
]

const TILE_PATH = /^\/tiles\/([^/]+)\/[^/]+\/(\d+)\/(\d+)\/(\d+)\.(\w+)$/

/** Requests the same tile as a WMTS client does, by key and value. */
function asGetTile(request: Request): Request {
  const [, layer, z, x, y, ext] = TILE_PATH.exec(request.path) ?? []
  if (layer === undefined) throw new Error(`${request.path} is not the address of a tile`)
  const query =
    `SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${layer}&STYLE=default&FORMAT=image/${ext}` +
    `&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX=${z}&TILEROW=${y}&TILECOL=${x}`
  return { ...request, path: `/wmts?${query}` }
}

function without({ headers }: Request): string[] {
  return headers.filter((line) => !line.startsWith(BEARER))
}

/** null if the server needs no token. */
async function refused(
  peer: RunningPeer,
  tile: Address,
  count: number,
  makeToken: () => string,
): Promise<Request[] | null> {
  const path = peer.tilePath('mix', tile)
  if (path === null || !peer.headers.some((line) => line.startsWith('Authorization:'))) return null
  return Array.from({ length: count }, () => ({ path, headers: [...LEAN, `${BEARER}${makeToken()}`] }))
}

/** Returns requests with distinct addresses. */
function missing(count: number): RequestsFor {
  return async (peer, { data }) => {
    const random = seededRandom(SEED)
    const there = new Set(data.tiles.map(({ z, x, y }) => `${z}/${x}/${y}`))
    const tiles: Address[] = []
    while (tiles.length < count) {
      const tile = { z: MISSING_ZOOM, x: below(random, 2 ** MISSING_ZOOM), y: below(random, 2 ** MISSING_ZOOM) }
      if (!there.has(`${tile.z}/${tile.x}/${tile.y}`)) tiles.push(tile)
    }
    return tileRequests(peer, 'mix', tiles)
  }
}
