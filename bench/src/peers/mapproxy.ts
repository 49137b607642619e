import { spawnSync } from 'node:child_process'
import type { Peer } from './peer.js'

export const mapproxyPeer: Peer = {
  name: 'mapproxy',
  async start() {
    if (spawnSync('mapproxy-util', ['--version']).error !== undefined) return 'MapProxy is not installed'
    return 'todo'
  },
}
