import { type NewVersion, readBasemap } from '@gateway/store/basemaps.js'
import { type JobLease, renewLease, returnJob } from '@gateway/store/jobs.js'
import { appendLayerSources } from '@gateway/store/layer-sources.js'
import { finishSliceJob, type SliceEnd, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { registerVersion } from '../catalog/register/register-version.js'
import { versionRecord } from '../catalog/register/version-record.js'
import { LAYERS_SOURCE } from '../catalog/sources/configured-sources.js'
import type { LeaseEnd } from '../jobs/leases.js'
import { LEASE, LeaseLost } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish, edgesFollow } from '../platform/edges/commit.js'
import { enqueueCallback } from './callback.js'
import type { LayerPlace } from './layer-place.js'

/** How the run of a job ended; `lost` and `stopped`: without an end of the job. */
export type RunEnd = SliceEnd | LeaseEnd

/** Shown while edges take in what was published; the end of the job follows. */
const PUBLISHED = { progress: 99, phase: 'publishing' }

/**
 * Registers tiles that are in their place: the layer's sources, its version in the catalog and the change log in one transaction; then waits
 * for the edges, so that the layer is served before the job's success is reported. A crash before the job's end runs it again, which ends
 * in the same layer.
 */
export async function registerLayer(
  ctx: ControlContext,
  job: StoredSliceJob,
  lease: JobLease,
  place: LayerPlace,
  version: NewVersion,
): Promise<void> {
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    if ((await renewLease(tx, lease, LEASE.leaseSeconds, PUBLISHED)) === 'lost') throw new LeaseLost()
    await appendLayerSources(tx, { code: job.targetCode, version: place.version }, job.id, job.sourcePaths)
    const basemap = {
      code: job.targetCode,
      // A job without a display name of its own does not take away the one that the layer has.
      name: job.name === job.targetCode ? ((await readBasemap(tx, job.targetCode))?.name ?? job.name) : job.name,
      tileBaseUrl: ctx.settings.tilePublicBaseUrl,
      sourceCode: LAYERS_SOURCE,
    }
    return { result: null, changes: await registerVersion(tx, basemap, version, place.mode === 'mosaic') }
  })
  await edgesFollow(ctx, revision)
}

/** What the catalog keeps of a layer in its directory. */
export async function describeLayer(root: string, place: LayerPlace): Promise<NewVersion> {
  const probe = await probeTileSet(root, place.layerDir)
  if (probe === null) throw new Error('the finished layer holds no tile')
  return versionRecord(place.version, place.layerDir, probe)
}

/** Writes down how a run ended: the job and its callback in one transaction. A process that stops returns the job to the queue. */
export async function endJob(ctx: ControlContext, lease: JobLease, end: RunEnd): Promise<void> {
  if (end === 'lost') throw new LeaseLost()
  if (end === 'stopped') return returnJob(ctx.sql, lease)
  await ctx.sql.begin(async (tx) => {
    const ended = await finishSliceJob(tx, lease, end)
    if (ended === null) throw new LeaseLost()
    await enqueueCallback(ctx, tx, ended)
  })
}
