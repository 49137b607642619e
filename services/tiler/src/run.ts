import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  METADATA_FILE,
  type OutputLine,
  type Phase,
  type SuccessLine,
  type TilingRequest,
} from '@gateway/tiling/protocol.js'
import { chunkQueue } from './chunk-queue.js'
import { chunksOf } from './chunks.js'
import { BARE_ENVIRONMENT } from './confinement.js'
import { chooseEngine } from './engines/choose.js'
import { fail } from './failure.js'
import { type LayerMetadata, tileReader } from './layer.js'
import { unionOfBounds } from './mercator.js'
import type { Grid } from './plan.js'
import { type Preflight, preflight } from './preflight.js'
import { runToEnd } from './process.js'
import { buildPyramid } from './pyramid.js'
import { measureRange, type Range } from './stretch.js'
import { tileWriter } from './tile-writer.js'
import type { WarpJob } from './warp.js'

/** Where a run speaks: lines for the caller, a log for people. */
export interface Voice {
  say(line: OutputLine): void
  log(message: string): void
}

/** Share of the progress that reading headers takes, and that is reached when all tiles are made. */
const PROBED = 2
const TILED = 99

/** Carries out a request in a scratch folder of its own; answers the last line. Throws a `Failure` with the reason. */
export async function run(request: TilingRequest, temp: string, voice: Voice): Promise<SuccessLine> {
  const progress = progressOf(voice)
  const engine = chooseEngine(request, temp, voice.log)
  try {
    const before = await preflight(engine, request, temp, (share) => progress('probing', share * PROBED))
    voice.say(before.plan)
    if (request.estimate_only) return success(before, layerAfter(before, null), 0)
    const roots = request.source_roots ?? []
    const range = await rangeFor(before, () => measureRange(engine, temp, before.sources, roots))
    if (range) voice.log(`values ${range[0]} to ${range[1]} become 0 to 255`)
    const { grid, placed } = before
    const written = await tile(request, before, { engine, temp, roots, grid, placed, range }, voice, progress)
    if (written === 0) fail('the sources hold no visible pixels: not a single tile came out')
    progress('finishing', TILED)
    const metadata = layerAfter(before, range)
    await writeFile(join(request.staging_dir, METADATA_FILE), `${JSON.stringify(metadata, null, 2)}\n`)
    await reachDisk(request.staging_dir, request.limits.idle_timeout_seconds)
    progress('finishing', 100)
    return success(before, metadata, written)
  } finally {
    engine.close()
  }
}

async function tile(
  request: TilingRequest,
  before: Preflight,
  warp: WarpJob,
  voice: Voice,
  progress: (phase: Phase, percent: number) => void,
): Promise<number> {
  const { grid, format, layer } = before
  const total = blocksOf(grid)
  let done = 0
  const chunks = chunkQueue(warp)
  try {
    return await buildPyramid({
      grid,
      chunks,
      writer: tileWriter(request.staging_dir, format, grid.tileSize),
      existing: layer ? tileReader(request.layer_dir!, layer, voice.log) : null,
      onBlock: () => progress('tiling', PROBED + (++done / total) * (TILED - PROBED)),
    })
  } finally {
    await chunks.close()
  }
}

function blocksOf(grid: Grid): number {
  let blocks = 0
  for (const { rect } of chunksOf(grid)) blocks += (rect.x1 - rect.x0 + 1) * (rect.y1 - rect.y0 + 1)
  return blocks
}

/** The layer's own scale if it has one; else a new one is measured, where any source needs it. */
async function rangeFor({ sources, layer }: Preflight, measure: () => Promise<Range>): Promise<Range | null> {
  if (!sources.some((source) => source.imagery.range === 'measured')) return null
  return layer?.value_range ?? (await measure())
}

/** What the layer will be when the staged tiles are published. */
function layerAfter({ grid, bounds, format, layer }: Preflight, range: Range | null): LayerMetadata {
  const scale = range ?? layer?.value_range
  return {
    ...layer,
    format,
    tile_size: grid.tileSize,
    minzoom: Math.min(grid.zoomMin, layer?.minzoom ?? grid.zoomMin),
    maxzoom: Math.max(grid.zoomMax, layer?.maxzoom ?? grid.zoomMax),
    bounds: layer ? unionOfBounds(bounds, layer.bounds) : bounds,
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

/** Has the file system written out before tiles are published: a power cut must not leave renamed but empty ones. */
async function reachDisk(folder: string, idleSeconds: number): Promise<void> {
  const sync = { command: 'sync', args: ['--file-system', folder], env: BARE_ENVIRONMENT, descriptors: [], idleSeconds }
  // Where there is no such command, the kernel writes in its own time.
  await runToEnd(sync).catch(() => {})
}

/** Says how far the run is whenever it has come half a percent further, and never less than before. */
function progressOf(voice: Voice): (phase: Phase, percent: number) => void {
  let said = -1
  return (phase, percent) => {
    const rounded = Math.min(100, Math.floor(percent * 2) / 2)
    if (rounded <= said) return
    said = rounded
    voice.say({ type: 'progress', percent: rounded, phase })
  }
}
