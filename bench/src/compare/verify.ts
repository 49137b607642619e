import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DataSet } from '../data/data-set.js'
import { evenDirectory } from '../data/even-set.js'
import { OTHERS, type Other } from '../data/others-set.js'
import type { Address } from '../data/traffic.js'
import { type Basemap, type Environment, type RunningPeer, urlOf } from '../peers/peer.js'

/** Throws unless a server returns the stored bytes of some tiles, so that only correct servers are measured. */
export async function verifyTiles(peer: RunningPeer, data: DataSet, environment: Environment): Promise<void> {
  const verify = async (basemaps: readonly Basemap[], tiles: readonly (Address | undefined)[], stored: Stored) => {
    for (const basemap of basemaps) for (const tile of tiles) if (tile) await verifyTile(peer, basemap, tile, stored)
  }
  await verify(['mix', 'mixmb', 'mixpm'], [data.tiles[0], data.tiles.at(-1), data.hotTile], (tile) =>
    readFile(join(data.basemaps, `mix/v1/${fileOf(tile)}.png`)),
  )
  const some = [data.manyTiles[0], data.manyTiles[8_000]]
  if (environment === 'others') {
    // JPEG tables are added to the tiles of the other one.
    const unchanged = (Object.keys(OTHERS) as Other[]).filter((name) => name !== 'others-cog-jpeg')
    await verify(unchanged, some, (tile) => readFile(join(data.basemaps, `many/v1/${fileOf(tile)}.png`)))
  }
  if (environment !== 'small') return
  await verify(['many', 'evenmb', 'evenpm', 'remotepm'], some, (tile) =>
    readFile(join(data.basemaps, `many/v1/${fileOf(tile)}.png`)),
  )
  await verify(['vt', 'vtmb', 'vtpm'], some, async (tile) =>
    gunzipSync(await readFile(join(evenDirectory(), `vt/v1/${fileOf(tile)}.pbf`))),
  )
}

type Stored = (tile: Address) => Promise<Buffer>
const fileOf = ({ z, x, y }: Address): string => `${z}/${x}/${y}`

async function verifyTile(peer: RunningPeer, basemap: Basemap, tile: Address, stored: Stored): Promise<void> {
  const path = peer.tilePath(basemap, tile)
  if (path === null) return
  const headers = peer.headers.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])
  const answer = await fetch(`${urlOf(peer)}${path}`, { headers })
  const body = Buffer.from(await answer.arrayBuffer())
  const wanted = await stored(tile)
  const same = peer.sendsStoredBytes ? body.equals(wanted) : body.length === wanted.length
  if (answer.status !== 200 || !same) {
    throw new Error(`${peer.name} answers ${path} with ${answer.status} and other bytes than are stored`)
  }
}
