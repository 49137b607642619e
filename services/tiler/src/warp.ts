import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { Resampling } from '@gateway/contracts/tiling/protocol.js'
import { BLOCK_OPTIONS, type Blocks, openBlocks } from './blocks.js'
import type { Chunk } from './chunks.js'
import { type Engine, errorsIn, type ToolOutcome } from './engines/engine.js'
import { DISK_FULL, Failure, quoted } from './failure.js'
import type { Placement } from './footprint.js'
import { NO_HEIGHT } from './heights.js'
import type { Grid } from './plan.js'
import type { Source } from './probe.js'
import { assertUnchanged, closeSources, reopenSources } from './sources.js'
import { resolutionOf } from './space.js'
import type { Range } from './stretch.js'
import { type Level, vrtOf } from './vrt.js'

/** A placement with its source. */
export interface PlacedSource extends Placement {
  readonly source: Source
  /** units of the tiles' space per source pixel */
  readonly resolution: number
}

export interface WarpJob {
  readonly engine: Engine
  /** scratch folder of the run */
  readonly temp: string
  readonly roots: readonly string[]
  readonly grid: Grid
  readonly placed: readonly PlacedSource[]
  /** for sources with non-byte pixels */
  readonly range: Range | null
  /** interpolation of colours */
  readonly resampling: Resampling
  /** four bytes of colours and alpha, or one 32-bit float: an elevation */
  readonly samples: 1 | 4
}

/** Maximum error in pixels of GDAL's approximate reprojection; together with rounding it stays below a tenth. */
const TRANSFORM_TOLERANCE = 0.05

/** MiB of source and target that GDAL holds at a time, in addition to its block cache. */
const WARP_MEMORY_MB = 64

/** Warps the sources of a chunk onto its tile grid, one block per tile. `name` is that of the temporary files. */
export async function warpChunk(job: WarpJob, chunk: Chunk, name: string): Promise<void> {
  const placed = chunk.placements.map((index) => job.placed[index]!)
  const sources = placed.map(({ source }) => source)
  const opened = await reopenSources(sources, job.roots)
  const names = opened.map((source, index) => job.engine.sourceName(source, index))
  const vrts = placed.map((_, index) => `${name}-${index}.vrt`)
  try {
    for (const [index, file] of vrts.entries()) {
      await writeFile(join(job.temp, file), vrtFor(job, placed[index]!, names[index]!))
    }
    const outcome = await job.engine.run({
      tool: 'gdalwarp',
      args: [
        ...warpOptions(job, chunk),
        ...vrts.map((file) => job.engine.tempName(file)),
        job.engine.tempName(`${name}.tif`),
      ],
      sources: opened,
    })
    await assertUnchanged(
      opened,
      sources.map(({ path }) => path),
    )
    await judge(job, outcome, sources, names)
  } finally {
    await closeSources(opened)
    await Promise.all(vrts.map((file) => rm(join(job.temp, file), { force: true })))
  }
}

/** Opens a warped chunk. Fails if it differs from the request, whatever GDAL's exit code was. */
export function openChunk(job: WarpJob, chunk: Chunk, name: string): Blocks {
  const { tileSize } = job.grid
  const { width, height } = sizeOf(chunk, tileSize)
  const pixel = job.samples === 4 ? { samples: 4, sampleBytes: 1 } : { samples: 1, sampleBytes: 4 }
  return openBlocks(join(job.temp, `${name}.tif`), { width, height, blockSize: tileSize, ...pixel })
}

function sizeOf({ rect }: Chunk, tileSize: number): { width: number; height: number } {
  return { width: (rect.x1 - rect.x0 + 1) * tileSize, height: (rect.y1 - rect.y0 + 1) * tileSize }
}

function warpOptions(job: WarpJob, chunk: Chunk): string[] {
  const { space, tileSize, warpZoom } = job.grid
  const { rect } = chunk
  const { width, height } = sizeOf(chunk, tileSize)
  const tile = space.tileSpan / 2 ** warpZoom
  const column = (x: number) => space.extent.west + x * tile
  const row = (y: number) => space.extent.north - y * tile
  const extent = [column(rect.x0), row(rect.y1 + 1), column(rect.x1 + 1), row(rect.y0)]
  const { threads } = job.engine
  return [
    ...['-of', 'GTiff', '-t_srs', space.crs, '-te', ...extent.map(String), '-ts', String(width), String(height)],
    ...['-ovr', 'NONE', ...pixelOptions(job)],
    // Sources on both sides of the antimeridian are placed by us, each on its side.
    ...['-to', 'INSERT_CENTER_LONG=NO'],
    ...(threads > 1 ? ['-multi', '-wo', `NUM_THREADS=${threads}`] : []),
    ...['-wo', 'SKIP_NOSOURCE=YES', '-wm', String(WARP_MEMORY_MB)],
    ...['-co', 'TILED=YES', '-co', `BLOCKXSIZE=${tileSize}`, '-co', `BLOCKYSIZE=${tileSize}`],
    ...['-co', 'BIGTIFF=YES', '-co', 'SPARSE_OK=TRUE', ...BLOCK_OPTIONS],
  ]
}

const GDAL_NAMES: Readonly<Record<Resampling, string>> = { nearest: 'near', bilinear: 'bilinear', cubic: 'cubic' }

function pixelOptions(job: WarpJob): string[] {
  // Bilinear stays between the heights that it reads, where cubic would overshoot at cliffs. Exact positions: on a steep slope a
  // twentieth of a pixel is half a metre.
  if (job.samples === 1) return ['-r', 'bilinear', '-et', '0', '-ot', 'Float32', '-dstnodata', String(NO_HEIGHT)]
  // Stated outright: with several sources GDAL would take their alpha for a fourth colour.
  const precision = ['-et', String(TRANSFORM_TOLERANCE)]
  return [
    '-r',
    GDAL_NAMES[job.resampling],
    ...precision,
    ...(hasAlpha(job) ? ['-srcalpha', '-dstalpha'] : ['-dstalpha']),
  ]
}

function vrtFor(job: WarpJob, placed: PlacedSource, name: string): string {
  const { source, shift } = placed
  const { range } = source.imagery
  return vrtOf({
    name,
    wkt: source.wkt,
    width: source.width,
    height: source.height,
    transform: source.transform,
    gcps: source.gcps,
    shift,
    level: levelFor(job, placed),
    imagery: source.imagery,
    range: range === 'measured' ? job.range : range,
    alpha: hasAlpha(job),
    heights: job.samples === 1,
  })
}

/** True if any source has pixels that do not count; then all are warped with alpha, because the sources of one warp must be alike. */
function hasAlpha({ placed }: WarpJob): boolean {
  return placed.some(({ source: { imagery } }) => imagery.masks.length > 0 || imagery.palette === 'transparent')
}

/**
 * The smallest version of a source that is still as fine as the tiles. Overviews may hold means of pixels, which `nearest` must not show; with a
 * palette they hold its colours only.
 */
function levelFor({ grid, resampling }: WarpJob, { source, resolution }: PlacedSource): Level {
  const whole: Level = { index: -1, width: source.width, height: source.height }
  if (resampling === 'nearest' && source.imagery.palette === 'none') return whole
  const target = resolutionOf(grid.space, grid.warpZoom, grid.tileSize)
  const fineEnough = source.overviews.filter((level) => (resolution * source.width) / level.width <= target)
  return fineEnough.reduce((best, level) => (level.width < best.width ? level : best), whole)
}

async function judge(
  job: WarpJob,
  outcome: ToolOutcome,
  sources: readonly Source[],
  names: readonly string[],
): Promise<void> {
  const errors = errorsIn(outcome)
  if (outcome.code === 0 && !outcome.stopped && errors.length === 0) return
  if (outcome.stopped === 'idle') throw new Failure(coded('slice_standstill'))
  const text = outcome.stderr
  const disk = await statfs(job.temp)
  const chunkBytes = 4 * (job.grid.tileSize * 2) ** 2
  if (/no space left|disk quota/i.test(text) || disk.bavail * disk.bsize < chunkBytes) throw new Failure(DISK_FULL)
  if (/out of memory|bad_alloc|cannot allocate|memory/i.test(text)) {
    throw new Failure(coded('slice_memory'))
  }
  throw new Failure(coded('slice_pixels_damaged', { sources: namesOf(errors, sources, names) }))
}

/** The sources that GDAL's errors name, or all of the chunk where they name none. */
function namesOf(errors: readonly string[], sources: readonly Source[], names: readonly string[]): string {
  const text = `${errors.join('\n')}\n`
  // A name may be the beginning of another: source 1 and source 12.
  const isNamed = (name: string) => text.split(name).some((rest, place) => place > 0 && !/^\d/.test(rest))
  const named = sources.filter((_, index) => isNamed(names[index]!))
  const paths = [...new Set((named.length > 0 ? named : sources).map(({ path }) => quoted(path)))]
  return paths.length > 3 ? `one of ${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(' or ')
}
