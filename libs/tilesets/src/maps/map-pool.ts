import { HelperPool } from '@gateway/core/processes/helper-pool.js'
import type { Picture, TileGrid } from './positions.js'

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/maps/map-process.js', import.meta.url)

export interface DrawnLayer {
  readonly grid: TileGrid
  /** see `TilePlan` */
  readonly shrink: number
  /** true for tiles of encoded numbers, between which no colour has a meaning */
  readonly isNearest: boolean
  readonly tiles: readonly { readonly x: number; readonly y: number; readonly bytes: Uint8Array }[]
}

/** A box of pixels; right and bottom are the first ones outside. */
export interface PixelBox {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface MapTask {
  readonly picture: Picture
  readonly format: 'png' | 'jpg' | 'webp'
  /** false: the background is opaque, and so is the picture */
  readonly transparent: boolean
  /** 0xRRGGBB */
  readonly background: number
  /** boxes outside of which nothing is drawn; null: everything is drawn */
  readonly clip: readonly PixelBox[] | null
  /** the first at the bottom */
  readonly layers: readonly DrawnLayer[]
}

/** A tile that cannot be decoded, and is left out. */
export interface TileFault {
  readonly layer: number
  readonly x: number
  readonly y: number
  readonly reason: string
}

export interface MapAnswer {
  readonly bytes: Uint8Array
  readonly faults: readonly TileFault[]
}

/** Limit of the time between two steps, of which a tile is one and the compression of the largest picture another. */
const STEP_MS = 10_000
const TASK_MS = 60_000
/** The largest picture has 64 MB, the decoded tiles of a band up to 70 MB, and the tiles as many as MAX_TILE_BYTES. */
const MEMORY_MB = 1024
/** Limit: bytes of the tiles of a picture: 1,024 photographs without loss, or as many tiles of 512 pixels with it. */
export const MAX_TILE_BYTES = 256 * 1024 * 1024
/** Limit: pictures that wait for a process. */
const MAX_WAITING = 64

/** Processes that draw maps from tiles, which come from outside. */
export function mapPool(processes: number): HelperPool<MapTask, MapAnswer> {
  const limits = { stepMs: STEP_MS, taskMs: TASK_MS, memoryMb: MEMORY_MB, waiting: MAX_WAITING }
  return new HelperPool<MapTask, MapAnswer>({ module: MODULE, processes, ...limits })
}
