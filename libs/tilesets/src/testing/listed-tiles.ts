import path from 'node:path'
import type { Storage } from '@gateway/contracts/basemap.js'
import sharp from 'sharp'
import { openListed } from '../listed-source.js'
import { readExactly } from '../read-exactly.js'
import type { Tile } from '../source.js'
import type { CacheTile } from './esri-caches.js'
import { ALL_CACHED, servedFrom } from './served-from.js'

/** Makes a picture whose colour encodes its address. */
export const picture = (z: number, x: number, y: number) =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: { r: z * 40, g: x * 30, b: y * 30 } } })
    .png()
    .toBuffer()

/** A pyramid of three zooms: all tiles of zooms 0 and 1, two tiles of zoom 2. `shift`: offset of levels from zooms. */
export async function pyramid(shift = 0): Promise<CacheTile[]> {
  const places = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [1, 0, 1],
    [1, 1, 1],
    [2, 1, 0],
    [2, 3, 2],
  ] as const
  return Promise.all(
    places.map(async ([z, x, y]) => ({ level: z + shift, column: x, row: y, data: await picture(z, x, y) })),
  )
}

export async function bytesOf(tile: Tile | null | 'busy'): Promise<Buffer | null> {
  if (tile === null || tile === 'busy') return null
  const { body } = tile
  if (body instanceof Uint8Array) return Buffer.from(body)
  const bytes = await readExactly(body.fd, body.offset, body.length)
  body.release()
  return bytes
}

/** Opens sets of a folder by their names. */
export function setsIn(root: () => string) {
  const at = (name: string) => path.join(root(), name)
  async function open(name: string, storage: Storage, more = {}) {
    const source = await openListed(servedFrom(root(), at(name), storage, more), ALL_CACHED)
    if (source === null) throw new Error('absent')
    return source
  }
  async function addressesOf(name: string, storage: Storage, zoom: number, more = {}) {
    const source = await open(name, storage, more)
    const found: string[] = []
    for await (const [x, y] of source.addresses(zoom)) found.push(`${x}/${y}`)
    source.close()
    return found.sort()
  }
  return { at, open, addressesOf }
}
