import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataSet } from '../data/data-set.js'
import type { RunningPeer } from '../peers/peer.js'

/** Throws unless a server answers some tiles with the very bytes that are stored: what is not right is not measured. */
export async function verifyTiles(peer: RunningPeer, data: DataSet): Promise<void> {
  for (const basemap of ['mix', 'mixmb', 'mixpm'] as const) {
    for (const tile of [data.tiles[0], data.tiles.at(-1), data.hotTile]) {
      const path = tile === undefined ? null : peer.tilePath(basemap, tile)
      if (tile === undefined || path === null) continue
      const stored = await readFile(join(data.basemaps, `mix/v1/${tile.z}/${tile.x}/${tile.y}.png`))
      const headers = peer.headers.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])
      const answer = await fetch(`http://127.0.0.1:${peer.port}${path}`, { headers })
      const body = Buffer.from(await answer.arrayBuffer())
      const same = peer.sendsStoredBytes ? body.equals(stored) : body.length === stored.length
      if (answer.status !== 200 || !same) {
        throw new Error(`${peer.name} answers ${path} with ${answer.status} and other bytes than are stored`)
      }
    }
  }
}
