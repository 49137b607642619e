import { startGateway } from '../gateway/gateway.js'
import type { Peer } from './peer.js'

/** This project's edge: one process, all checks on. Its requests carry a token that may read everything. */
export const edgePeer: Peer = {
  name: 'edge',
  async start({ data, cores }) {
    const gateway = await startGateway({ workers: 1, cores, basemaps: data.basemaps, vectors: data.vectors })
    const { token } = await gateway.admin.issueToken()
    return {
      name: 'edge',
      description: 'this gateway: one edge process, every request with a service token that is checked',
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
