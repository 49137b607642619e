import { readBasemap } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import { appendLayerSources } from '@gateway/store/layer-sources.js'
import { finishSliceJob, renewSliceLease, type SliceLease, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { probeTileSet } from '@gateway/tiles/probe.js'
import { type ControlContext, commitAndPublish, edgesFollow } from '../context.js'
import { enqueueCallback } from '../deliveries/enqueue-callback.js'
import { registerVersion } from '../scans/register-version.js'
import { LAYERS_SOURCE } from '../scans/sources-from-settings.js'
import { versionRecord } from '../scans/version-record.js'
import { toSliceJob } from './job-object.js'
import { LEASE_SECONDS } from './job-watch.js'
import type { LayerPlace } from './layer-place.js'

/** Thrown inside a transaction to undo it: another process has the job by now, and ends it. */
export class LeaseLost extends Error {}

/** Told while the edges take in what was published; the end of the job follows. */
const PUBLISHED = { progress: 99, phase: 'publishing' }

/**
 * Ends a job whose tiles are in place. First the layer: its sources, its version in the catalog and the change log in one transaction, and
 * the edges follow. Then the job and its callback, so that whoever hears of its success finds the layer served. A crash in between runs the
 * job again, which ends in the same layer.
 */
export async function finishSucceeded(
  ctx: ControlContext,
  job: StoredSliceJob,
  lease: SliceLease,
  place: LayerPlace,
): Promise<void> {
  const probe = await probeTileSet(ctx.settings.sliceOutputRoot, place.layerDir)
  if (probe === null) throw new Error('the finished layer holds no tile')
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    if ((await renewSliceLease(tx, lease, LEASE_SECONDS, PUBLISHED)) === 'lost') throw new LeaseLost()
    await appendLayerSources(tx, { code: job.targetCode, version: place.version }, job.id, job.sourcePaths)
    const basemap = {
      code: job.targetCode,
      // A job without a display name of its own does not take away the one that the layer has.
      name: job.name === job.targetCode ? ((await readBasemap(tx, job.targetCode))?.name ?? job.name) : job.name,
      tileBaseUrl: ctx.settings.tilePublicBaseUrl,
      sourceCode: LAYERS_SOURCE,
    }
    const version = versionRecord(place.version, place.layerDir, probe)
    return { result: null, changes: await registerVersion(tx, basemap, version, place.mode === 'mosaic') }
  })
  await edgesFollow(ctx, revision)
  await ctx.sql.begin((tx) => finish(ctx, tx, lease, { status: 'succeeded', message: '' }))
}

export async function finishFailed(ctx: ControlContext, lease: SliceLease, message: string): Promise<void> {
  await ctx.sql.begin((tx) => finish(ctx, tx, lease, { status: 'failed', message }))
}

async function finish(
  ctx: ControlContext,
  tx: Transaction,
  lease: SliceLease,
  outcome: { status: 'succeeded' | 'failed'; message: string },
): Promise<void> {
  const finished = await finishSliceJob(tx, lease, outcome)
  if (finished === null) throw new LeaseLost()
  await oweCallback(ctx, tx, finished)
}

/** The callback of a job that has just ended, whatever ended it. */
export async function oweCallback(ctx: ControlContext, tx: Transaction, job: StoredSliceJob): Promise<void> {
  if (job.callbackUrl === '') return
  const object = toSliceJob(job, ctx.settings.sliceOutputRoot)
  await enqueueCallback(tx, { jobId: job.id, url: job.callbackUrl, job: { ...object } })
}
