import { join } from 'node:path'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { type CallbackState, readCallbackStates } from '@gateway/store/deliveries.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../context.js'
import { expectedVersions } from './layer-version.js'

/** The job object of the interface. The `callback_` counts appear once delivery has started. */
export function toSliceJob(
  job: StoredSliceJob,
  outputRoot: string,
  callback?: CallbackState,
  expectedVersion?: string,
): SliceJob {
  return {
    id: job.id,
    code: job.code ?? '',
    name: job.name,
    source_count: job.sourcePaths.length,
    source_paths: [...job.sourcePaths],
    target_code: job.targetCode,
    output_root: join(outputRoot, job.targetCode, job.version ?? expectedVersion ?? ''),
    zoom_min: job.zoomMin,
    zoom_max: job.zoomMax,
    tile_size: job.tileSize,
    tile_format: job.tileFormat,
    status: job.status,
    message: job.message,
    log_path: job.logPath,
    callback_url: job.callbackUrl,
    callback_status: callback?.status ?? '',
    ...(callback !== undefined && { callback_attempts: callback.attempts, callback_message: callback.message }),
    created_at: job.createdAt.toISOString(),
    requested_by: job.requestedBy,
    progress: Math.round(job.progress * 10) / 10,
  }
}

/** Job objects with the state of their callbacks and, of those that wait, the version that they will go to. */
export async function toSliceJobs(
  { sql, settings, now }: Pick<ControlContext, 'sql' | 'settings' | 'now'>,
  jobs: readonly StoredSliceJob[],
): Promise<SliceJob[]> {
  const withCallback = jobs.filter((job) => job.callbackUrl !== '').map((job) => job.id)
  const callbacks = withCallback.length === 0 ? new Map() : await readCallbackStates(sql, withCallback)
  const expected = await expectedVersions(sql, jobs, now())
  return jobs.map((job) => toSliceJob(job, settings.sliceOutputRoot, callbacks.get(job.id), expected.get(job.id)))
}
