import { type NewVersion, readBasemap } from '@gateway/store/basemaps.js'
import { type JobLease, renewLease, returnJob } from '@gateway/store/jobs.js'
import { appendLayerSources } from '@gateway/store/layer-sources.js'
import { finishSliceJob, type SliceEnd, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { registerVersion } from '../catalog/register/register-version.js'
import { versionRecord } from '../catalog/register/version-record.js'
import { LAYERS_SOURCE } from '../catalog/sources/configured-sources.js'
import type { LeaseEnd } from '../jobs/leases.js'
import { JOB_LEASE } from '../jobs/leases.js'
import { LeaseLost } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish, edgesFollow } from '../platform/edges/commit.js'
import { enqueueCallback } from './callback.js'
import type { LayerPlace } from './layer-place.js'

/** The end of a job's run. `lost` and `stopped` do not end the job itself. */
export type RunEnd = SliceEnd | LeaseEnd

/** Progress while edges take over the published version; the end of the job follows. */
const PUBLISHED = { progress: 99, phase: 'publishing' }

/**
 * Registers tiles that are in their place: the layer's sources, its version in the catalog and the change log, in one transaction. Then waits
 * for the edges, so that the layer is served before the job's success is reported. After a crash before the job's end, it runs again, with the
 * same layer as result.
 */
export async function registerLayer(
  ctx: ControlContext,
  job: StoredSliceJob,
  lease: JobLease,
  place: LayerPlace,
  version: NewVersion,
): Promise<void> {
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    if ((await renewLease(tx, lease, JOB_LEASE.leaseSeconds, PUBLISHED)) === 'lost') throw new LeaseLost()
    await appendLayerSources(tx, { code: job.targetCode, version: place.version }, job.id, job.sourcePaths)
    const basemap = {
      code: job.targetCode,
      // A job without its own display name keeps the existing name of the layer.
      name: job.name === job.targetCode ? ((await readBasemap(tx, job.targetCode))?.name ?? job.name) : job.name,
      tileBaseUrl: ctx.settings.tilePublicBaseUrl,
      sourceCode: LAYERS_SOURCE,
    }
    return { result: null, changes: await registerVersion(tx, basemap, version, place.mode === 'mosaic') }
  })
  await edgesFollow(ctx, revision)
}

/** Returns the catalog entry of a layer in its directory. */
export async function describeLayer(root: string, place: LayerPlace): Promise<NewVersion> {
  const probe = await probeTileSet(root, place.layerDir)
  if (probe === null) throw new Error('the finished layer holds no tile')
  return versionRecord(place.version, place.layerDir, probe)
}

/** Stores the end of a run: the job and its callback in one transaction. A stopping process returns the job to the queue. */
export async function endJob(ctx: ControlContext, lease: JobLease, end: RunEnd): Promise<void> {
  if (end === 'lost') throw new LeaseLost()
  if (end === 'stopped') return returnJob(ctx.sql, lease)
  await ctx.sql.begin(async (tx) => {
    const ended = await finishSliceJob(tx, lease, end)
    if (ended === null) throw new LeaseLost()
    await enqueueCallback(ctx, tx, ended)
  })
}
