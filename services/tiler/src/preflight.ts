import { mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Bounds } from '@gateway/contracts/basemap.js'
import type { PlanLine, RealTileFormat, TilingRequest } from '@gateway/tiling/protocol.js'
import type { Engine } from './engines/engine.js'
import { fail } from './failure.js'
import { type LayerMetadata, readLayer } from './layer.js'
import { boundsAround } from './mercator.js'
import { footprintsOf } from './placing.js'
import { countTiles, estimateBytes, estimateTempBytes, type Grid, gridOf } from './plan.js'
import { probe, type Source } from './probe.js'
import type { PlacedSource } from './warp.js'

/** Sources whose headers are read side by side: mosaics have hundreds, and each costs a process. */
const PROBED_AT_A_TIME = availableParallelism()

/** Everything that is decided before the first pixel is read. */
export interface Preflight {
  readonly sources: readonly Source[]
  readonly placed: readonly PlacedSource[]
  readonly grid: Grid
  readonly bounds: Bounds
  readonly format: RealTileFormat
  /** The layer that is merged into, if there is one. */
  readonly layer: LayerMetadata | null
  readonly plan: PlanLine
}

/** Looks at sources, layer and disk; throws a `Failure` where the job cannot succeed or must not be tried. */
export async function preflight(
  engine: Engine,
  request: TilingRequest,
  temp: string,
  onProbed: (share: number) => void,
): Promise<Preflight> {
  const layer = request.mode === 'accumulate' && request.layer_dir ? await readLayer(request.layer_dir) : null
  if (layer && layer.tile_size !== request.tile_size) {
    fail(
      `the layer consists of tiles of ${layer.tile_size} pixels; images cannot be merged into it with ${request.tile_size}`,
    )
  }
  const sources = await probeAll(engine, request, onProbed)
  const placed = await place(engine, sources)
  const shortest = Math.min(...placed.map(({ shorterSide }) => shorterSide))
  const range = { zoomMin: request.zoom_min, zoomMax: request.zoom_max, tileSize: request.tile_size }
  const grid = gridOf(placed, shortest, range)
  const format = layer?.format ?? realFormat(request.tile_format)
  const bounds = boundsAround(placed.map(({ box }) => box))
  const tiles = countTiles(grid)
  if (tiles > request.limits.max_tiles) {
    fail(
      `zooms ${grid.zoomMin} to ${grid.zoomMax} of these images are up to ${tiles} tiles; at most ${request.limits.max_tiles} are allowed`,
    )
  }
  const plan: PlanLine = {
    type: 'plan',
    tiles,
    bytes_estimate: estimateBytes(tiles, format, grid.tileSize),
    temp_bytes_estimate: estimateTempBytes(grid),
    bounds,
    min_zoom: grid.zoomMin,
    max_zoom: grid.zoomMax,
    engine: engine.name,
  }
  if (!request.estimate_only) await checkDisk(request.staging_dir, temp, plan)
  return { sources, placed, grid, bounds, format, layer, plan }
}

/** JPEG holds no transparency, which merging and the edges of every image need: WebP serves the same purpose. */
function realFormat(asked: TilingRequest['tile_format']): RealTileFormat {
  return asked === 'jpg' ? 'webp' : asked
}

async function probeAll(engine: Engine, request: TilingRequest, onProbed: (share: number) => void): Promise<Source[]> {
  const { source_paths: paths, source_roots: roots = [], limits } = request
  const sources: Source[] = []
  let pixels = 0
  for (let at = 0; at < paths.length; at += PROBED_AT_A_TIME) {
    const some = paths.slice(at, at + PROBED_AT_A_TIME)
    for (const source of await Promise.all(some.map((path) => probe(engine, path, roots)))) {
      sources.push(source)
      pixels += source.width * source.height
    }
    if (pixels > limits.max_pixels) {
      fail(`the sources have more than ${limits.max_pixels} pixels, which is the limit for one job`)
    }
    onProbed(sources.length / paths.length)
  }
  return sources
}

async function place(engine: Engine, sources: readonly Source[]): Promise<(PlacedSource & { shorterSide: number })[]> {
  const footprints = await footprintsOf(engine, sources)
  return sources.flatMap((source, index) => {
    const { placements, resolution, shorterSide } = footprints[index]!
    return placements.map((placement) => ({ ...placement, source, resolution, shorterSide }))
  })
}

/** Makes the staging folder, which must be empty, and refuses a job that its disk would not hold. */
async function checkDisk(staging: string, temp: string, plan: PlanLine): Promise<void> {
  await mkdir(staging, { recursive: true })
  if ((await readdir(staging)).length > 0) throw new Error('the staging folder is not empty')
  const oneDisk = (await stat(staging)).dev === (await stat(temp)).dev
  const needs: [string, number][] = oneDisk
    ? [[staging, plan.bytes_estimate + plan.temp_bytes_estimate]]
    : [
        [staging, plan.bytes_estimate],
        [temp, plan.temp_bytes_estimate],
      ]
  for (const [folder, bytes] of needs) {
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < bytes) {
      const [wanted, free] = [bytes, bavail * bsize].map((each) => `${Math.ceil(each / 1e6)} MB`)
      fail(`there is not enough disk space: about ${wanted} would be needed, ${free} are free`)
    }
  }
}
