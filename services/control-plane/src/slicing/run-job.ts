import { mkdir, rm } from 'node:fs/promises'
import { CodedError, coded, messageOfError } from '@gateway/contracts/messages.js'
import type { OutputLine, PlanLine } from '@gateway/contracts/tiling/protocol.js'
import { publishStaged } from '@gateway/contracts/tiling/publish.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { failedBy } from '@gateway/store/jobs.js'
import {
  type ClaimedSliceJob,
  noteSliceWarnings,
  noteSliceZoom,
  placeSliceJob,
  type SliceEnd,
  type StoredSliceJob,
} from '@gateway/store/slice-jobs.js'
import { removeIfEmpty } from '../catalog/edit/layer-files.js'
import { recordEnd } from '../jobs/leases.js'
import { LeaseLost, type RunningJob } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { keptTrace, traced } from '../platform/trace.js'
import { archivedLayers } from './archived-layers.js'
import { lackOfRoom } from './disk-room.js'
import { describeLayer, endJob, type RunEnd, registerLayer } from './end-job.js'
import { fetchImages } from './fetch-images.js'
import { type JobLog, logDirectory, openJobLog } from './job-log.js'
import { adoptRun, isPublishing, type LayerPlace, notePublishing, placeLayer } from './layer-place.js'
import { type PublishedLayers, publishedLayers } from './published-layers.js'
import { removeOldVersions } from './retention.js'
import { runTool } from './tool.js'
import { toolRequest } from './tool-request.js'
import { codedReason, isOfPlan, planWarnings } from './warnings.js'

/**
 * Runs a claimed job to its end: the tool makes tiles in a staging folder, the tiles are moved into the layer, the layer is registered, and the
 * job's end is stored. A failed or cancelled job leaves the served layer unchanged.
 */
export async function runJob(
  ctx: ControlContext,
  claimed: ClaimedSliceJob,
  running: RunningJob<SliceEnd>,
): Promise<void> {
  const { id, targetCode, trace } = claimed.job
  const { parent, fields } = keptTrace(trace)
  const attributes = { 'gateway.job': id, 'gateway.layer': targetCode }
  const span = { kind: 'consumer', parent, attributes, fields: { ...fields, job: id } } as const
  await traced(ctx, 'slice job', span, () => runInTrace(ctx, claimed, running), failureOf)
}

/** Returns the end of the run; null: another process has the job. */
async function runInTrace(
  ctx: ControlContext,
  claimed: ClaimedSliceJob,
  running: RunningJob<SliceEnd>,
): Promise<RunEnd | null> {
  const { job, lease } = claimed
  const seconds = ctx.metrics.sliceSeconds.startTimer()
  ctx.log.info({ layer: job.targetCode, sources: job.sourcePaths.length }, 'a slice job runs')
  running.progress = { progress: 0, phase: 'starting' }
  const log = await openJobLog(logDirectory(ctx.settings.dataDir), job.id)
  try {
    const end = await makeLayer(ctx, claimed, running, log).catch((error) =>
      // Errors after an abort are consequences of it, not failures.
      running.signal.aborted ? (running.signal.reason as RunEnd) : unexpected(ctx, log, error),
    )
    await recordEnd(ctx.log, running.held, () => endJob(ctx, lease, end))
    ctx.log.info({ end }, 'a slice job has ended here')
    if (end !== 'stopped' && end !== 'lost') seconds({ status: typeof end === 'object' ? 'failed' : end })
    if (end === 'succeeded') await removeOldVersions(ctx, job.targetCode).catch(warn(ctx, job))
    return end
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
    ctx.log.info('a slice job was taken over by another process')
    return null
  } finally {
    await log.close()
  }
}

function failureOf(end: RunEnd | null): string | null {
  return typeof end === 'object' && end !== null ? end.failed : null
}

async function makeLayer(
  ctx: ControlContext,
  claimed: ClaimedSliceJob,
  running: RunningJob<SliceEnd>,
  log: JobLog,
): Promise<RunEnd> {
  const { job, lease } = claimed
  const { sliceWorkRoot } = ctx.settings
  await adoptRun(sliceWorkRoot, job.targetCode, lease)
  const placed = await placeLayer(ctx.sql, ctx.settings, job, lease, ctx.now())
  if (!placed.ok) return failedBy(placed.reason)
  const { place } = placed
  if (isRemote(ctx.settings.sliceOutputRoot) && job.tileMatrixSet !== 'WebMercatorQuad')
    return failedBy(coded('slice_archive_grid'))
  if (!(await placeSliceJob(ctx.sql, lease, { version: place.version, logPath: log.path }))) return 'lost'
  const run = { ctx, claimed, running, log, place }
  const layers = publishedLayers(ctx, job, running, log) ?? archivedLayers(ctx, job, running, log)
  const removeRun = () => rm(place.runDir, { recursive: true, force: true })
  try {
    const end = isPublishing(place) ? null : await makeTiles(run, layers)
    if (end === null) await publishTiles(run, layers)
    await removeRun()
    return end ?? 'succeeded'
  } catch (error) {
    // If this process stops or has lost the job, the next run resumes from these files.
    if (!running.held.aborted) await removeRun()
    throw error
  } finally {
    await layers?.close()
    // Removes the folder of a layer that has nothing yet; a scan would warn of it.
    await removeIfEmpty(sliceWorkRoot, job.targetCode)
  }
}

interface Run {
  readonly ctx: ControlContext
  readonly claimed: ClaimedSliceJob
  readonly running: RunningJob<SliceEnd>
  readonly log: JobLog
  readonly place: LayerPlace
}

/** Makes all tiles of a job next to its layer. null: they are complete; else why the job ends. */
async function makeTiles(run: Run, layers: PublishedLayers | null): Promise<RunEnd | null> {
  const { ctx, claimed, running, log, place } = run
  const { job, lease } = claimed
  await mkdir(place.runDir, { recursive: true })
  const images = await fetchImages(ctx, job, running.signal).catch((error: Error) => error)
  try {
    running.signal.throwIfAborted()
    if (images instanceof Error) return failedBy(messageOfError(images))
    await layers?.prepare(place)
    running.signal.throwIfAborted()
    let zoomMax = job.zoomMax
    const tiled = await runTool(
      ctx.settings.tilerCommand,
      await toolRequest(ctx.settings, { ...job, sourcePaths: images.paths }, place, images.tags),
      log.stream,
      (line) => {
        if (line.type === 'plan') zoomMax = line.max_zoom
        if (line.type === 'plan') warnOfPlan(ctx, claimed, line)
        follow(running, place, line)
      },
      running.signal,
    )
    running.signal.throwIfAborted()
    if (!tiled.ok) return { failed: tiled.reason, coded: codedReason(tiled) }
    if (job.zoomMaxNative) await noteSliceZoom(ctx.sql, lease, zoomMax)
    return null
  } finally {
    if (!(images instanceof Error)) await images.remove()
  }
}

/** Moves complete tiles into the layer and registers it. A run that was interrupted in this is finished by another call. */
async function publishTiles(run: Run, layers: PublishedLayers | null): Promise<void> {
  const { ctx, claimed, running, place } = run
  running.progress = { progress: 99, phase: 'publishing' }
  // The served layer changes only under a lease that was confirmed just now.
  await running.confirm()
  running.signal.throwIfAborted()
  await layers?.beginChange(place)
  await notePublishing(place)
  await publishStaged(place.stagingDir, place.layerDir)
  const described = await describeLayer(ctx.settings.sliceWorkRoot, place)
  const version = layers === null ? described : await layers.publish(place, described)
  running.signal.throwIfAborted()
  await recordEnd(ctx.log, running.held, () => registerLayer(ctx, claimed.job, claimed.lease, place, version))
}

/** Progress goes into the store with the next renewal; a plan that the disk would not hold ends the run. */
function follow(running: RunningJob<SliceEnd>, place: LayerPlace, line: OutputLine): void {
  if (line.type === 'progress') running.progress = { progress: line.percent * 0.98, phase: line.phase }
  if (line.type === 'plan') void refuseWithoutRoom(running, place, line)
}

/** Stores warnings while the job runs, so that its submitter sees at once what may make it useless. */
function warnOfPlan({ sql, log }: ControlContext, { job, lease }: ClaimedSliceJob, plan: PlanLine): void {
  const found = planWarnings(job, plan)
  if (found.length === 0) return
  noteSliceWarnings(sql, lease, [...job.warnings.filter(({ code }) => !isOfPlan(code)), ...found]).catch((error) =>
    log.warn({ err: error }, 'the warnings of a slice job could not be stored'),
  )
}

async function refuseWithoutRoom(running: RunningJob<SliceEnd>, place: LayerPlace, plan: PlanLine): Promise<void> {
  const failed = await lackOfRoom(plan, place.runDir)
  if (failed !== null) running.abort(failedBy(failed))
}

function warn({ log }: ControlContext, job: StoredSliceJob): (error: Error) => void {
  return (error) => log.warn({ err: error, layer: job.targetCode }, 'old versions could not be removed')
}

function unexpected(ctx: ControlContext, log: JobLog, error: Error): RunEnd {
  if (error instanceof LeaseLost) return 'lost'
  log.stream.write(`${error.message}\n`)
  if (error instanceof CodedError) return failedBy(error.said)
  ctx.log.error({ err: error }, 'a slice job failed unexpectedly')
  return failedBy(coded('slice_not_finished', { words: error.message }))
}
