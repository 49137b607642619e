import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileC } from '../compile-c.js'
import { evenDirectory } from '../data/even-set.js'
import { sizeDirectory } from '../data/size-set.js'
import { folderPath, type Peer, startDaemon } from './peer.js'

const SOURCE = fileURLToPath(new URL('../../src/peers/limit.c', import.meta.url))
/** The largest tile of all workloads: 4,096 KB of `sizes`. */
const MOST_BYTES = 4_194_304

/** The limit of the kernel: a loop in C that sends bodies of the same sizes from memory, without any checks. */
export const limitPeer: Peer = {
  name: 'limit',
  environments: ['common', 'small', 'sizes'],
  async start({ data, cores }) {
    const program = compileC(SOURCE)
    if (program === null) return 'apt-get install gcc libc6-dev'
    const daemon = await startDaemon({
      name: 'limit',
      cores,
      configuration: () => '',
      command: (_config, _dir, port) => [program, String(port), String(MOST_BYTES)],
      ready: ['/0', 200],
    })
    return {
      ...daemon,
      name: 'limit',
      description:
        'one loop over epoll in C: a fixed head, and as many bytes from memory as the tile has; no checks, no files',
      // The path is the size of the tile that the others send.
      tilePath(basemap, tile) {
        const path = folderPath(basemap === 'mixmb' || basemap === 'mixpm' ? 'mix' : basemap, tile)
        if (path === null) return null
        const file = path.replace('/tiles/', '')
        const root = file.startsWith('vt') ? evenDirectory() : file.startsWith('size') ? sizeDirectory() : data.basemaps
        const found = statSync(join(root, file), { throwIfNoEntry: false })
        return found === undefined ? null : `/${found.size}`
      },
      downloadPath: () => null,
      sendsStoredBytes: false,
      headers: [],
    }
  },
}
