import { startGateway } from '../gateway/gateway.js'
import type { Peer } from './peer.js'

/** This project's edge: one process, all checks on. Its requests carry a token that may read everything. */
export const edgePeer = gatewayPeer('edge', 'this gateway')

/** The edge of another checkout of this project, which must be built. */
export function earlierEdgePeer(checkout: string): Peer {
  return gatewayPeer('before', `the gateway of ${checkout}`, checkout)
}

function gatewayPeer(name: string, title: string, checkout?: string): Peer {
  return {
    name,
    async start({ data, cores }) {
      const { basemaps, vectors } = data
      const gateway = await startGateway({ workers: 1, cores, basemaps, vectors, ...(checkout && { checkout }) })
      const { token } = await gateway.admin.issueToken()
      return {
        name,
        description: `${title}: one edge process, every request with a service token that is checked`,
        port: gateway.port,
        pids: gateway.edgePids,
        tilePath: (basemap, { z, x, y }) => `/tiles/${basemap}/v1/${z}/${x}/${y}.png`,
        downloadPath: (vector) => `/vectors/${vector}/download`,
        sendsStoredBytes: true,
        headers: [`Authorization: Bearer ${token}`],
        stop: gateway.stop,
      }
    },
  }
}
