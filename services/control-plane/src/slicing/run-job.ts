import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { placeSliceJob, type SliceLease, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { DEFAULT_LIMITS, type PlanLine, type TilingRequest } from '@gateway/tiling/protocol.js'
import { publishStaged } from '@gateway/tiling/publish.js'
import type { ControlContext } from '../context.js'
import { lackOfRoom } from './disk-room.js'
import { finishFailed, finishSucceeded, LeaseLost } from './finish-job.js'
import { CANCELLED, JobWatch } from './job-watch.js'
import { type LayerPlace, placeLayer, removeLeftStaging } from './layer-place.js'
import { removeOldVersions } from './retention.js'
import { runTool } from './tool.js'

/** How a run ended: with a job that has ended, or without (the lease was lost, or this process is stopping). */
export type RunEnd = 'finished' | 'lost' | 'interrupted'

/**
 * Runs one job to its end: tiles are made in a staging folder by the tool, put into the layer, and told in one transaction. A failed or
 * cancelled job leaves the served layer as it was. `onWake` calls its listener when there may be news, of a cancellation say.
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
  const watch = new JobWatch(ctx, lease, onWake)
  const refuseWithoutRoom = async (plan: PlanLine) => {
    const message = await lackOfRoom(plan, dirname(place.stagingDir))
    if (message !== null) watch.stop({ end: 'finished', message })
  }
  try {
    const request = await requestOf(ctx, job, place)
    const tool = runTool(ctx.settings.tilerCommand, request, log, (line) => {
      if (line.type === 'progress') watch.progress = { progress: line.percent * 0.98, phase: line.phase }
      else if (line.type === 'plan') void refuseWithoutRoom(line)
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

async function openLog(directory: string, jobId: string): Promise<{ path: string; stream: WriteStream }> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, `${jobId}.log`)
  const stream = createWriteStream(path, { flags: 'w', mode: 0o640 })
  // A log that cannot be written must not end the job that it tells of.
  stream.on('error', () => {})
  return { path, stream }
}
