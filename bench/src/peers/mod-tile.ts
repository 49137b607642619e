import { existsSync } from 'node:fs'
import type { Peer } from './peer.js'

/** Named, so that nobody takes it for forgotten. */
export const modTilePeer: Peer = {
  name: 'mod_tile',
  async start() {
    return existsSync('/usr/lib/apache2/modules/mod_tile.so')
      ? 'mod_tile serves the metatiles of its own renderer, so it cannot be given these tiles'
      : 'mod_tile is not installed'
  },
}
