import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import {
  METADATA_FILE,
  type OutputLine,
  type Phase,
  type Resampling,
  type SuccessLine,
  type TilingRequest,
} from '@gateway/contracts/tiling/protocol.js'
import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import { runToEnd } from '@gateway/core/processes/run-to-end.js'
import { chunkQueue } from './chunk-queue.js'
import { blocksIn, chunksOf } from './chunks.js'
import { chooseEngine } from './engines/choose.js'
import type { Engine } from './engines/engine.js'
import { fail } from './failure.js'
import { heightModel } from './heights.js'
import { type LayerMetadata, tileReader } from './layer.js'
import { unionOfBounds } from './mercator.js'
import { CLASSES, COLOURS, type PixelModel } from './pixel-model.js'
import type { Grid } from './plan.js'
import { assertRoom, type Preflight, preflight } from './preflight.js'
import type { Source } from './probe.js'
import { buildPyramid } from './pyramid.js'
import { openResume, originOf, type Resume } from './resume.js'
import { clippingOf, type Range, rangeOf, sampleValues } from './stretch.js'
import { tileWriter } from './tile-writer.js'
import type { WarpJob } from './warp.js'

/** Output of a run: lines for the caller, and a log for people. */
export interface Reporter {
  report(line: OutputLine): void
  log(message: string): void
}

/** Percent of the progress that reading headers takes, and that is reached when all tiles are made. */
const PROBED = 2
const TILED = 99

/** Runs a request in its own scratch folder. Returns the last line. Throws a `Failure` with the reason. */
export async function run(request: TilingRequest, temp: string, reporter: Reporter): Promise<SuccessLine> {
  const engine = chooseEngine(request, temp, reporter.log)
  try {
    const result = await runWith(engine, request, temp, reporter)
    if (!request.estimate_only) await reachDisk(request.staging_dir, request.limits.idle_timeout_seconds)
    return result
  } finally {
    engine.close()
  }
}

/** `run` with an engine that may have served other runs. Written files may not have reached the disk yet. */
export async function runWith(
  engine: Engine,
  request: TilingRequest,
  temp: string,
  reporter: Reporter,
): Promise<SuccessLine> {
  const progress = progressOf(reporter)
  const before = await preflight(engine, request, (share) => progress('probing', share * PROBED))
  if (request.estimate_only) {
    reporter.report(before.plan)
    return success(before, layerAfter(before, null), 0)
  }
  const roots = request.source_roots ?? []
  const isMeasured = !request.encoding && before.sources.some((source) => source.imagery.range === 'measured')
  const range = isMeasured
    ? scaleOf(before.layer, await sampleValues(engine, temp, before.sources, roots), reporter)
    : null
  const { grid, placed } = before
  const resampling = request.resampling ?? resamplingOf(before.sources)
  const pictures = resampling === 'nearest' ? CLASSES : COLOURS
  const model = request.encoding ? heightModel(request.encoding) : pictures
  const warp: WarpJob = { engine, temp, roots, grid, placed, range, resampling, samples: model.samples }
  const resume = request.resume ? await resumeRun(request, engine, before, range, reporter) : null
  await assertRoom(request, temp, before.plan, resume?.bytes ?? null)
  reporter.report(resume?.chunks ? { ...before.plan, bytes_kept: resume.bytes } : before.plan)
  const written = await tile(request, before, model, warp, resume, reporter, progress)
  if (written === 0) fail(coded('slice_nothing_visible'))
  progress('finishing', TILED)
  const metadata = layerAfter(before, range)
  await writeFile(join(request.staging_dir, METADATA_FILE), `${JSON.stringify(metadata, null, 2)}\n`)
  progress('finishing', 100)
  return success(before, metadata, written)
}

/** The colours of a palette often stand for classes, between which there is nothing. */
function resamplingOf(sources: readonly Source[]): Resampling {
  return sources.every(({ imagery }) => imagery.palette !== 'none') ? 'nearest' : 'cubic'
}

async function tile(
  request: TilingRequest,
  before: Preflight,
  model: PixelModel,
  warp: WarpJob,
  resume: Resume | null,
  reporter: Reporter,
  progress: (phase: Phase, percent: number) => void,
): Promise<number> {
  const { grid, format, layer } = before
  const staged = { folder: request.staging_dir, format, tileSize: grid.tileSize, isResumed: resume !== null }
  const total = blocksOf(grid)
  let done = 0
  const chunks = chunkQueue(warp, (chunk) => resume?.has(chunk) === true)
  try {
    return await buildPyramid({
      grid,
      model,
      chunks,
      writer: tileWriter(staged, model),
      existing: layer ? tileReader(request.layer_dir!, layer, model, reporter.log) : null,
      resume,
      onBlocks: (count) => {
        done += count
        progress('tiling', PROBED + (done / total) * (TILED - PROBED))
      },
    })
  } finally {
    await chunks.close()
  }
}

function blocksOf(grid: Grid): number {
  let blocks = 0
  for (const chunk of chunksOf(grid)) blocks += blocksIn(chunk)
  return blocks
}

async function resumeRun(
  request: TilingRequest,
  engine: Engine,
  before: Preflight,
  range: Range | null,
  reporter: Reporter,
): Promise<Resume> {
  const resume = await openResume(request.resume!.dir, request.staging_dir, originOf(request, engine, before, range))
  if (resume.chunks > 0) reporter.log(`going on with ${resume.chunks} finished blocks of a run that was interrupted`)
  return resume
}

/**
 * Returns the layer's own scale if it has one, since values in another scale could not share its tiles; otherwise that of the sampled values. Logs
 * the part of the values that it cuts off.
 */
function scaleOf(layer: LayerMetadata | null, values: readonly number[], reporter: Reporter): Range {
  const range = layer?.value_range ?? rangeOf(values)
  reporter.log(
    `values ${range[0]} to ${range[1]} become 0 to 255${layer?.value_range ? ', as in the layer before' : ''}`,
  )
  const clipping = clippingOf(values, range)
  if (clipping !== null) reporter.log(clipping)
  if (clipping !== null && layer?.value_range) {
    reporter.log('a new version, sliced from all sources of the layer together, gets a scale that covers them all')
  }
  return range
}

/** Returns the state of the layer after the staged tiles are published. */
function layerAfter({ grid, bounds, format, layer, encoding }: Preflight, range: Range | null): LayerMetadata {
  const scale = range ?? layer?.value_range
  return {
    ...layer,
    format,
    tile_size: grid.tileSize,
    minzoom: Math.min(grid.zoomMin, layer?.minzoom ?? grid.zoomMin),
    maxzoom: Math.max(grid.zoomMax, layer?.maxzoom ?? grid.zoomMax),
    tile_matrix_set: grid.space.id,
    crs: grid.space.crs,
    ...(encoding && { encoding }),
    bounds: layer ? unionOfBounds([bounds, layer.bounds]) : bounds,
    ...(scale ? { value_range: [scale[0], scale[1]] } : {}),
  }
}

function success({ grid }: Preflight, metadata: LayerMetadata, written: number): SuccessLine {
  return {
    type: 'result',
    ok: true,
    tiles_written: written,
    bounds: metadata.bounds,
    min_zoom: metadata.minzoom,
    max_zoom: metadata.maxzoom,
    format: metadata.format,
    tile_size: grid.tileSize,
  }
}

/** Flushes the file system before tiles are published: a power cut must not leave renamed but empty files. */
async function reachDisk(folder: string, idleSeconds: number): Promise<void> {
  const sync = { command: 'sync', args: ['--file-system', folder], env: BARE_ENVIRONMENT, descriptors: [], idleSeconds }
  // Without this command, the kernel writes in its own time.
  await runToEnd(sync).catch(() => {})
}

/** Reports progress in steps of half a percent, and never backwards. */
function progressOf(reporter: Reporter): (phase: Phase, percent: number) => void {
  let reported = -1
  return (phase, percent) => {
    const rounded = Math.min(100, Math.floor(percent * 2) / 2)
    if (rounded <= reported) return
    reported = rounded
    reporter.report({ type: 'progress', percent: rounded, phase })
  }
}
