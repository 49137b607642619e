import { fileURLToPath } from 'node:url'
import { freePort } from '@gateway/core/processes/readiness.js'
import { answers, Service } from '../gateway/service.js'
import { family } from '../machine.js'
import type { Peer } from './peer.js'

const SERVER = fileURLToPath(new URL('floor-server.js', import.meta.url))

/** The best case of uWebSockets.js with a handler in JavaScript: the size of the hot tile, and no checks at all. */
export const floorPeer: Peer = {
  name: 'floor',
  environments: ['common'],
  async start({ data, cores }) {
    const port = await freePort()
    const { z, x, y, bytes } = data.hotTile
    const command = [process.execPath, SERVER, String(port), String(bytes)]
    const service = new Service({ name: 'floor', command, core: cores?.server })
    await service.until(() => answers(`http://127.0.0.1:${port}/`, 200))
    return {
      name: 'floor',
      description: `uWebSockets.js: a handler that sends a fixed buffer of ${bytes} bytes, no checks`,
      port,
      pids: () => family(service.pid),
      tilePath: (basemap, tile) =>
        basemap === 'mix' && tile.z === z && tile.x === x && tile.y === y ? `/tiles/mix/v1/${z}/${x}/${y}.png` : null,
      downloadPath: () => null,
      sendsStoredBytes: false,
      headers: [],
      stop: () => service.stop(),
    }
  },
}
