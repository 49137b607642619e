import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { readExactly } from '@gateway/tilesets/read-exactly.js'
import type { FilePart, Tile } from '@gateway/tilesets/source.js'
import { areaInTile, matrixSetOf } from '@gateway/tilesets/tile-matrix-sets.js'
import { featuresWithin } from '@gateway/vectors/tiles/features-within.js'
import { areaKey, areaTag } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { CachedTile, type TileTarget } from '../tiles/tile-cache.js'
import type { LoadOutcome, Waiter } from '../tiles/tile-loader.js'
import { tileAnswer } from './tile-answer.js'

/**
 * Limit: bytes of a vector tile that is unpacked, to be cut or for a client that refuses gzip. Real tiles stay below 5 MB; a zip bomb must not fill the memory.
 */
export const MAX_PLAIN_BYTES = 16 * 1024 * 1024
/** Fast, because each area has its own tiles: the ratio is some percent worse than the best one. */
const LEVEL = 4
const NOTHING = new Uint8Array(0)

const unpack = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip)
const pack = promisify<Uint8Array, { level: number }, Buffer>(gzip)

/** Packs a tile that is made for one request, or for few. An empty one stays empty. */
export async function packTile(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length > 0 ? pack(bytes, { level: LEVEL }) : bytes
}

/** The result of a cut: a tile, whose body is empty if the area has no feature of it, or the reason for its absence. */
export type CutOutcome = { readonly kind: 'cut'; readonly tile: CachedTile } | Exclude<LoadOutcome, { kind: 'tile' }>

/**
 * Cuts the vector tile of a target to the features that touch an area; requests for the same cut share it. Returns null if the tile's grid or format
 * allows no cut.
 * @param inGzip false if the client refuses gzip
 */
export function cutTile(
  edge: Edge,
  target: TileTarget,
  area: Bounds,
  inGzip: boolean,
  isWanted: () => boolean,
): Promise<CutOutcome> | null {
  const { version, place } = target
  if (areaInTile(matrixSetOf(version.stored), place, area) === null || version.stored.format !== 'pbf') return null
  const name = `${version.contentId}/${place.z}/${place.x}/${place.y}${place.variant ?? ''} ${target.cacheControl}${cutKey(area, inGzip)}`
  return edge.hotTiles.cutOnce(name, async () => {
    const outcome = await loadPlain(edge, target, area, { isWanted })
    if (outcome.kind !== 'plain') return outcome
    const { tile, bytes } = outcome
    try {
      const body = inGzip ? await packTile(bytes) : bytes
      // A copy of the tile for one area must never validate for another one.
      const identity = `${tile.identity}-${areaTag(area)}`
      const answer = tileAnswer(target, { ...tile, body, identity, encoding: 'gzip' }, inGzip)
      return { kind: 'cut', tile: new CachedTile(body, answer, target, performance.now()) }
    } catch (error) {
      return { kind: 'failed', error }
    }
  })
}

/** A tile with its content, which is empty if the area has no feature of it, or the reason for its absence. */
export type PlainOutcome =
  | { readonly kind: 'plain'; readonly tile: Tile; readonly bytes: Uint8Array }
  | Exclude<LoadOutcome, { kind: 'tile' }>

/** Loads a tile and unpacks it. @param area cuts it to the features that touch this area; null: all */
export async function loadPlain(
  edge: Edge,
  target: TileTarget,
  area: Bounds | null,
  waiter: Omit<Waiter, 'settle'>,
): Promise<PlainOutcome> {
  const { version, place } = target
  const loaded = await new Promise<LoadOutcome>((settle) => edge.tiles.load(version, place, { ...waiter, settle }))
  if (loaded.kind !== 'tile') return loaded
  const { tile } = loaded
  try {
    const bytes = await plainBytes(edge, target, tile)
    if (bytes === 'busy') return { kind: 'busy' }
    if (area === null) return { kind: 'plain', tile, bytes }
    const boxes = areaInTile(matrixSetOf(version.stored), place, area) ?? []
    const takeTurn = () => new Promise<void>((resolve) => edge.turns.later(resolve))
    return { kind: 'plain', tile, bytes: (await featuresWithin(bytes, boxes, takeTurn)) ?? NOTHING }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

/** Returns the part of a cache's key that identifies a cut. */
export function cutKey(area: Bounds, inGzip: boolean): string {
  return `${areaKey(area)}${inGzip ? '' : ' plain'}`
}

/** Returns the content of a tile, whose part of a file is released. */
export async function plainBytes(
  edge: Edge,
  { version }: Pick<TileTarget, 'version'>,
  { body, encoding }: Tile,
): Promise<Uint8Array | 'busy'> {
  const stored = body instanceof Uint8Array ? body : await readPartOf(edge, version.root, body)
  if (stored === 'busy' || encoding !== 'gzip') return stored
  return unpack(stored, { maxOutputLength: MAX_PLAIN_BYTES })
}

async function readPartOf(edge: Edge, root: string, part: FilePart): Promise<Uint8Array | 'busy'> {
  const read = await edge.disks.run(root, { read: () => readPart(part), discard: () => {} })
  if (!read.ok) return 'busy'
  if (read.value === null) throw new Error('the vector tile is too large')
  return read.value
}

/** Returns null if the part is too large to be unpacked. Releases the part when it has been read. */
export async function readPart({ fd, offset, length, release }: FilePart): Promise<Uint8Array | null> {
  try {
    return length > MAX_PLAIN_BYTES ? null : await readExactly(fd, offset, length)
  } finally {
    release()
  }
}
