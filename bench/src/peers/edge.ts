import { evenSet } from '../data/even-set.js'
import { othersSet } from '../data/others-set.js'
import { sizeSet } from '../data/size-set.js'
import { tlsPair } from '../data/tls-pair.js'
import { zipfSet } from '../data/zipf-set.js'
import { crowd } from '../gateway/crowd.js'
import { type Gateway, type GatewayOptions, startGateway } from '../gateway/gateway.js'
import { memory } from '../machine.js'
import { startOrigin } from './origin.js'
import { type Environment, type Peer, type PeerOptions, type RunningPeer, tilePathOf } from './peer.js'

/** The memory for tiles in the environment `small`: small enough that 20 times as much still fits into any page cache. */
export const SMALL_MEMORY_BYTES = 28 * 1024 * 1024

/** This project's edge: one process, all checks enabled. Its requests carry a token that may read everything. */
export const edgePeer = gatewayPeer('edge', 'this gateway')

/** The edge of another checkout of this project, which must be built. */
export function earlierEdgePeer(checkout: string): Peer {
  return gatewayPeer('before', `the gateway of ${checkout}`, checkout)
}

function gatewayPeer(name: string, title: string, checkout?: string): Peer {
  return {
    name,
    environments: ['common', 'small', 'others', 'crowded', 'sizes', 'tls'],
    async start({ data, environment, cores }): Promise<RunningPeer> {
      const special = await SPECIAL[environment](data)
      const { basemaps, vectors } = data
      // An earlier edge may not support remote sources.
      const origin = environment === 'small' && checkout === undefined ? await startOrigin(cores) : null
      const gateway = await startGateway({
        workers: 1,
        cores,
        vectors,
        ...special.options,
        basemaps: [basemaps, ...(special.options.basemaps ?? []), ...(origin === null ? [] : [origin.archive])],
        ...(checkout && { checkout }),
      })
      const { token } = await gateway.admin.issueToken()
      const { token: stranger } = await gateway.admin.issueToken({ basemap_codes: ['none'] })
      const seconds = (gateway.edgeReadyMs / 1000).toFixed(1)
      const megabytes = Math.round(memory(gateway.edgePids(), 'now') / 1e6)
      return {
        name,
        description: `${title}: one edge process, every request with a service token that is checked; ${special.words}${await fileTier(gateway)} tier; ready after ${seconds} s, with ${megabytes} MB`,
        port: gateway.port,
        isEncrypted: environment === 'tls',
        pids: gateway.edgePids,
        tilePath: (basemap, tile) => (basemap === 'remotepm' && origin === null ? null : tilePathOf(basemap, tile)),
        downloadPath: (vector) => `/vectors/${vector}/download`,
        sendsStoredBytes: true,
        headers: [`Authorization: Bearer ${token}`],
        stranger,
        ...(special.crowd && { crowd: special.crowd }),
        tileCounts: () => tileCounts(gateway),
        async stop() {
          await gateway.stop()
          await origin?.stop()
        },
      }
    },
  }
}

interface Special {
  readonly words: string
  readonly options: Pick<GatewayOptions, 'basemaps' | 'settings' | 'fill'>
  readonly crowd?: readonly string[]
}

const SPECIAL: Readonly<Record<Environment, (data: PeerOptions['data']) => Promise<Special>>> = {
  common: async () => ({ words: '', options: {} }),
  small: async (data) => ({
    words: `${SMALL_MEMORY_BYTES / 1024 ** 2} MB for tiles; `,
    options: {
      basemaps: [(await evenSet(data)).basemaps, await zipfSet()],
      settings: { TILE_MEMORY: String(SMALL_MEMORY_BYTES) },
    },
  }),
  others: async (data) => ({
    words: `${SMALL_MEMORY_BYTES / 1024 ** 2} MB for tiles; `,
    options: { basemaps: [await othersSet(data)], settings: { TILE_MEMORY: String(SMALL_MEMORY_BYTES) } },
  }),
  sizes: async () => ({ words: '', options: { basemaps: [await sizeSet()] } }),
  tls: async () => {
    const { cert, key } = tlsPair()
    return { words: 'with TLS; ', options: { settings: { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } } }
  },
  crowded: async () => {
    const { tokens, fill } = crowd()
    return { words: `${tokens.length} tokens and 10,000 versions in the store; `, options: { fill }, crowd: tokens }
  },
}

/** Returns how files reach sockets. Without the native addon the tier is `copy`, and all figures differ. */
async function fileTier({ url }: Gateway): Promise<string> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return /^gateway_file_tier\{tier="(\w+)"\} [1-9]/m.exec(metrics)?.[1] ?? 'unknown'
}

async function tileCounts({ url }: Gateway): Promise<{ tiles: number; hits: number }> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  const value = (name: string): number => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1] ?? 0)
  return { tiles: value('gateway_tiles_total'), hits: value('gateway_hot_tile_hits_total') }
}
