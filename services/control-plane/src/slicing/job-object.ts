import type { ListedSliceJob, SliceJob } from '@gateway/contracts/slice.js'
import { type CallbackState, readCallbackStates } from '@gateway/store/deliveries.js'
import type { ListedSliceJob as ListedRow, StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { layerPath } from '../catalog/register/layer-path.js'
import type { ControlContext } from '../platform/context.js'
import { expectedVersions } from './layer-version.js'

/** The job object of the interface. The `callback_` counts appear once delivery has started. */
export function toSliceJob(job: StoredSliceJob, outputRoot: string): SliceJob {
  return { ...toListedJob(job, outputRoot), source_paths: [...job.sourcePaths] }
}

function toListedJob(
  job: ListedRow,
  outputRoot: string,
  callback?: CallbackState,
  expectedVersion?: string,
): ListedSliceJob {
  return {
    id: job.id,
    code: job.code ?? '',
    name: job.name,
    source_count: job.sourceCount,
    target_code: job.targetCode,
    output_root: layerPath(outputRoot, job.targetCode, job.version ?? expectedVersion ?? ''),
    zoom_min: job.zoomMin,
    zoom_max: job.zoomMax,
    zoom_max_native: job.zoomMaxNative,
    tile_size: job.tileSize,
    tile_format: job.tileFormat,
    tile_matrix_set: job.tileMatrixSet,
    encoding: job.encoding,
    status: job.status,
    message: job.message,
    log_path: job.logPath,
    callback_url: job.callbackUrl,
    callback_status: callback?.status ?? '',
    ...(callback !== undefined && { callback_attempts: callback.attempts, callback_message: callback.message }),
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    requested_by: job.requestedBy,
    progress: Math.round(job.progress * 10) / 10,
    cancelled: job.cancelled,
    acknowledged_at: job.acknowledgedAt?.toISOString() ?? null,
  }
}

type Facts = Pick<ControlContext, 'sql' | 'settings' | 'now'>

/** A job object with the state of its callback and, while it waits, the version that it will go to. */
export async function describeJob(ctx: Facts, job: StoredSliceJob): Promise<SliceJob> {
  const [listed] = await describeJobs(ctx, [job])
  return { ...(listed as ListedSliceJob), source_paths: [...job.sourcePaths] }
}

/** The same of many, without the paths of their images. */
export async function describeJobs(
  { sql, settings, now }: Facts,
  jobs: readonly ListedRow[],
): Promise<ListedSliceJob[]> {
  const withCallback = jobs.filter((job) => job.callbackUrl !== '').map((job) => job.id)
  const callbacks = withCallback.length === 0 ? new Map() : await readCallbackStates(sql, withCallback)
  const expected = await expectedVersions(sql, jobs, now())
  return jobs.map((job) => toListedJob(job, settings.sliceOutputRoot, callbacks.get(job.id), expected.get(job.id)))
}
