import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, realpath, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import {
  placeSliceJob,
  type Renewal,
  renewSliceLease,
  type SliceLease,
  type SliceProgress,
  type StoredSliceJob,
} from '@gateway/store/slice-jobs.js'
import { DEFAULT_LIMITS, type PlanLine, type TilingRequest } from '@gateway/tiling/protocol.js'
import { publishStaged } from '@gateway/tiling/publish.js'
import type { ControlContext } from '../context.js'
import { finishFailed, finishSucceeded, LeaseLost, removeOldVersions } from './finish-job.js'
import { type LayerPlace, placeLayer, removeLeftStaging } from './layer-place.js'
import { runTool, type ToolRun } from './tool.js'

/** A runner that has not renewed for this long is taken for dead. */
export const LEASE_SECONDS = 12
const RENEW_MS = 2000

/** Left free on the disk beyond what a job is expected to need: others write there, too. */
const DISK_RESERVE_BYTES = 256 * 1024 * 1024

export const CANCELLED = 'cancelled by an administrator'

/** How a run ended: with a job that has ended, or without (the lease was lost, or this process is stopping). */
export type RunEnd = 'finished' | 'lost' | 'interrupted'

/**
 * Runs one job to its end: tiles are made in a staging folder by the tool, put into the layer, and told in one transaction. A failed or
 * cancelled job leaves the served layer as it was. `wake` is called back for news of a cancellation.
 */
export async function runJob(
  ctx: ControlContext,
  job: StoredSliceJob,
  lease: SliceLease,
  onWake: (listener: () => void) => () => void,
): Promise<RunEnd> {
  const { sliceOutputRoot, dataDir } = ctx.settings
  const log = await openLog(join(dataDir, 'slice-logs'), job.id)
  try {
    await removeLeftStaging(sliceOutputRoot, job.targetCode)
    const placed = await placeLayer(ctx.sql, sliceOutputRoot, job, lease, ctx.now())
    if (!placed.ok) {
      await finishFailed(ctx, lease, placed.reason)
      return 'finished'
    }
    const place = placed.place
    if (!(await placeSliceJob(ctx.sql, lease, { version: place.version, logPath: log.path }))) return 'lost'
    await mkdir(join(sliceOutputRoot, job.targetCode), { recursive: true })
    return await tileAndPublish(ctx, job, lease, place, log.stream, onWake)
  } catch (error) {
    if (error instanceof LeaseLost) return 'lost'
    log.stream.write(`${(error as Error).message}\n`)
    ctx.log.error({ err: error, job: job.id }, 'a slice job failed unexpectedly')
    await finishFailed(ctx, lease, `the layer could not be finished: ${(error as Error).message}`)
    return 'finished'
  } finally {
    log.stream.end()
    await finished(log.stream).catch(() => {})
  }
}

async function tileAndPublish(
  ctx: ControlContext,
  job: StoredSliceJob,
  lease: SliceLease,
  place: LayerPlace,
  log: WriteStream,
  onWake: (listener: () => void) => () => void,
): Promise<RunEnd> {
  const watch = new Watch(ctx, lease, onWake)
  try {
    const request = await requestOf(ctx, job, place)
    const tool = runTool(ctx.settings.tilerCommand, request, log, (line) => {
      if (line.type === 'progress') watch.progress = { progress: line.percent * 0.98, phase: line.phase }
      else if (line.type === 'plan') void refuseFullDisk(line, place, watch)
    })
    watch.guard(tool)
    const result = await tool.result
    const stopped = watch.stopped
    if (stopped !== null && stopped.end !== 'finished') return stopped.end
    if (stopped !== null) {
      await finishFailed(ctx, lease, stopped.message)
      return 'finished'
    }
    if (!result.ok) {
      await finishFailed(ctx, lease, result.reason)
      return 'finished'
    }
    watch.progress = { progress: 99, phase: 'publishing' }
    // The last look at the lease before the served layer changes.
    const renewal = await watch.renew()
    if (renewal === 'lost') return 'lost'
    if (renewal === 'cancel') {
      await finishFailed(ctx, lease, CANCELLED)
      return 'finished'
    }
    await publishStaged(place.stagingDir, place.layerDir)
    await finishSucceeded(ctx, job, lease, place)
    await removeOldVersions(ctx, job.targetCode).catch((error) =>
      ctx.log.warn({ err: error, layer: job.targetCode }, 'old versions could not be removed'),
    )
    return 'finished'
  } finally {
    watch.end()
    await rm(place.stagingDir, { recursive: true, force: true })
  }
}

/** The job fails with this message, or this process no longer has a say in it. */
type Stopped = { readonly end: 'finished'; readonly message: string } | { readonly end: 'lost' | 'interrupted' }

/** Renews the lease while the tool runs, and stops the tool for whatever makes its work pointless. */
class Watch {
  progress: SliceProgress = { progress: 0, phase: 'starting' }
  /** why the tool was stopped; null: it was not */
  stopped: Stopped | null = null
  readonly #ctx: ControlContext
  readonly #lease: SliceLease
  readonly #timer: NodeJS.Timeout
  readonly #unwake: () => void
  #tool: ToolRun | null = null
  #lastRenewed = Date.now()

  constructor(ctx: ControlContext, lease: SliceLease, onWake: (listener: () => void) => () => void) {
    this.#ctx = ctx
    this.#lease = lease
    this.#timer = setInterval(() => void this.renew(), RENEW_MS)
    this.#unwake = onWake(() => void this.renew())
    ctx.shutdown.addEventListener('abort', this.#interrupt)
  }

  guard(tool: ToolRun): void {
    this.#tool = tool
    if (this.stopped !== null) tool.stop()
    if (this.#ctx.shutdown.aborted) this.#interrupt()
  }

  stop(why: Stopped): void {
    this.stopped ??= why
    this.#tool?.stop()
  }

  async renew(): Promise<Renewal> {
    try {
      const renewal = await renewSliceLease(this.#ctx.sql, this.#lease, LEASE_SECONDS, this.progress)
      this.#lastRenewed = Date.now()
      if (renewal === 'lost') this.stop({ end: 'lost' })
      if (renewal === 'cancel') this.stop({ end: 'finished', message: CANCELLED })
      return renewal
    } catch {
      // The store is away: go on while nobody else can have the lease.
      if (Date.now() - this.#lastRenewed > LEASE_SECONDS * 1000) this.stop({ end: 'lost' })
      return 'lost'
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#unwake()
    this.#ctx.shutdown.removeEventListener('abort', this.#interrupt)
  }

  readonly #interrupt = (): void => this.stop({ end: 'interrupted' })
}

async function requestOf(ctx: ControlContext, job: StoredSliceJob, place: LayerPlace): Promise<TilingRequest> {
  const { sliceSourceRoots, dataDir } = ctx.settings
  const roots = await Promise.all(sliceSourceRoots.map((root) => realpath(root)))
  return {
    mode: place.mode,
    source_paths: [...job.sourcePaths],
    ...(roots.length > 0 && { source_roots: roots }),
    layer_dir: place.layerDir,
    staging_dir: place.stagingDir,
    temp_dir: join(dataDir, 'slice-temp'),
    zoom_min: job.zoomMin,
    zoom_max: job.zoomMax,
    tile_size: job.tileSize === 512 ? 512 : 256,
    tile_format: toolFormat(job.tileFormat),
    engine: 'auto',
    limits: DEFAULT_LIMITS,
  }
}

/** The wished format is metadata: the tool gets the nearest that it knows, and tells which one the layer really has. */
export function toolFormat(wished: string): TilingRequest['tile_format'] {
  const lower = wished.toLowerCase()
  if (lower === 'jpeg') return 'jpg'
  return lower === 'png' || lower === 'jpg' || lower === 'avif' ? lower : 'webp'
}

/** Ends a job that the disk would not hold before it fills it. */
async function refuseFullDisk(plan: PlanLine, place: LayerPlace, watch: Watch): Promise<void> {
  const { bavail, bsize } = await statfs(join(place.stagingDir, '..'))
  const available = bavail * bsize
  const needed = plan.bytes_estimate + plan.temp_bytes_estimate
  if (needed + DISK_RESERVE_BYTES <= available) return
  watch.stop({
    end: 'finished',
    message:
      `the disk would not hold the layer: about ${megabytes(needed)} MB are needed for ${plan.tiles} tiles and work space, ` +
      `${megabytes(available)} MB are free`,
  })
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}

async function openLog(directory: string, jobId: string): Promise<{ path: string; stream: WriteStream }> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, `${jobId}.log`)
  const stream = createWriteStream(path, { flags: 'w', mode: 0o640 })
  // A log that cannot be written must not end the job that it tells of.
  stream.on('error', () => {})
  return { path, stream }
}
