import { mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HeightEncoding, PlanLine, RealTileFormat, TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import type { Engine } from './engines/engine.js'
import { fail } from './failure.js'
import { assertHeights } from './imagery.js'
import { type LayerMetadata, readLayer } from './layer.js'
import { footprintsOf } from './placing.js'
import { countTiles, estimateBytes, estimateTempBytes, type Grid, gridOf } from './plan.js'
import { probe, type Source } from './probe.js'
import { boundsAround, nearestZoom, TILE_SPACES, type TileSpace } from './space.js'
import type { PlacedSource } from './warp.js'

/** Number of sources whose headers are read concurrently: mosaics have hundreds, and each costs a process. */
const PROBED_AT_A_TIME = availableParallelism()

const DEFAULT_GRID = 'WebMercatorQuad'

/** All decisions before the first pixel is read. */
export interface Preflight {
  readonly sources: readonly Source[]
  readonly placed: readonly PlacedSource[]
  readonly grid: Grid
  readonly bounds: Bounds
  readonly format: RealTileFormat
  /** undefined: images */
  readonly encoding: HeightEncoding | undefined
  /** existing layer to merge into; null: none */
  readonly layer: LayerMetadata | null
  readonly plan: PlanLine
}

/** Looks at sources and layer; throws a `Failure` where the job cannot succeed or must not be tried. */
export async function preflight(
  engine: Engine,
  request: TilingRequest,
  onProbed: (share: number) => void,
): Promise<Preflight> {
  const layer = request.mode === 'accumulate' && request.layer_dir ? await readLayer(request.layer_dir) : null
  const space = TILE_SPACES[request.tile_matrix_set ?? DEFAULT_GRID]
  if (layer) assertAlike(layer, request)
  const sources = await probeAll(engine, request, onProbed)
  if (request.encoding) for (const source of sources) assertHeights(source)
  const placed = await place(engine, sources, space)
  const shortest = Math.min(...placed.map(({ shorterSide }) => shorterSide))
  const nativeZoom = nearestZoom(space, Math.min(...placed.map(({ resolution }) => resolution)), request.tile_size)
  const range = {
    space,
    zoomMin: request.zoom_min,
    zoomMax: request.zoom_max === 'native' ? Math.max(request.zoom_min, nativeZoom) : request.zoom_max,
    tileSize: request.tile_size,
  }
  const grid = gridOf(placed, shortest, range)
  const format = layer?.format ?? realFormat(request)
  const bounds = boundsAround(
    space,
    placed.map(({ box }) => box),
  )
  const tiles = countTiles(grid)
  if (tiles > request.limits.max_tiles) {
    fail(
      coded('slice_too_many_tiles', {
        zoom_min: grid.zoomMin,
        zoom_max: grid.zoomMax,
        tiles,
        limit: request.limits.max_tiles,
      }),
    )
  }
  const plan: PlanLine = {
    type: 'plan',
    tiles,
    bytes_estimate: estimateBytes(tiles, request.encoding ? 'heights' : format, grid.tileSize),
    temp_bytes_estimate: estimateTempBytes(grid),
    bounds,
    min_zoom: grid.zoomMin,
    max_zoom: grid.zoomMax,
    engine: engine.name,
    native_zoom: nativeZoom,
  }
  return { sources, placed, grid, bounds, format, encoding: request.encoding, layer, plan }
}

/** Refuses a layer with tiles of another size or grid, which cannot be merged with. */
function assertAlike(layer: LayerMetadata, request: TilingRequest): void {
  if (layer.tile_size !== request.tile_size) {
    fail(coded('slice_layer_tile_size', { has: layer.tile_size, asked: request.tile_size }))
  }
  const [has, asked] = [layer.tile_matrix_set ?? DEFAULT_GRID, request.tile_matrix_set ?? DEFAULT_GRID]
  if (has !== asked) fail(coded('slice_layer_grid', { has, asked }))
  const [holds, wanted] = [layer.encoding ?? 'rgb', request.encoding ?? 'rgb']
  if (holds !== wanted) fail(coded('slice_layer_encoding', { has: holds, asked: wanted }))
}

/**
 * Returns the format of written tiles. JPEG has no transparency, which merging and the edges of every image need, so WebP replaces it. Elevations are
 * stored without loss, and map clients read them from PNG and WebP.
 */
function realFormat({ tile_format: asked, encoding }: TilingRequest): RealTileFormat {
  return asked === 'jpg' || (encoding && asked === 'avif') ? 'webp' : asked
}

async function probeAll(engine: Engine, request: TilingRequest, onProbed: (share: number) => void): Promise<Source[]> {
  const { source_paths: paths, source_roots: roots = [], limits } = request
  const sources: Source[] = []
  let pixels = 0
  for (let at = 0; at < paths.length; at += PROBED_AT_A_TIME) {
    const some = paths.slice(at, at + PROBED_AT_A_TIME)
    for (const source of await Promise.all(
      some.map((path) => probe(engine, path, roots, request.encoding ? 'heights' : 'colours')),
    )) {
      sources.push(source)
      pixels += source.width * source.height
    }
    if (pixels > limits.max_pixels) {
      fail(coded('slice_too_many_pixels', { limit: limits.max_pixels }))
    }
    onProbed(sources.length / paths.length)
  }
  return sources
}

async function place(
  engine: Engine,
  sources: readonly Source[],
  space: TileSpace,
): Promise<(PlacedSource & { shorterSide: number })[]> {
  const footprints = await footprintsOf(engine, sources, space)
  return sources.flatMap((source, index) => {
    const { placements, resolution, shorterSide } = footprints[index]!
    return placements.map((placement) => ({ ...placement, source, resolution, shorterSide }))
  })
}

/**
 * Makes the staging folder, and refuses a job that its disk would not hold. @param kept bytes that an earlier run left there; null: no run
 * left any, and the folder must be empty
 */
export async function assertRoom(
  { staging_dir: staging }: TilingRequest,
  temp: string,
  plan: PlanLine,
  kept: number | null,
): Promise<void> {
  await mkdir(staging, { recursive: true })
  if (kept === null && (await readdir(staging)).length > 0) throw new Error('the staging folder is not empty')
  const staged = Math.max(0, plan.bytes_estimate - (kept ?? 0))
  const oneDisk = (await stat(staging)).dev === (await stat(temp)).dev
  const needs: [string, number][] = oneDisk
    ? [[staging, staged + plan.temp_bytes_estimate]]
    : [
        [staging, staged],
        [temp, plan.temp_bytes_estimate],
      ]
  for (const [folder, bytes] of needs) {
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < bytes) {
      fail(coded('slice_no_disk_space', { wanted: megabytes(bytes), free: megabytes(bavail * bsize) }))
    }
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
