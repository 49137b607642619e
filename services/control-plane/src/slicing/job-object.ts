import { join } from 'node:path'
import type { SliceJob } from '@gateway/contracts/slice.js'
import type { Queryable } from '@gateway/store/connect.js'
import { type CallbackState, readCallbackStates } from '@gateway/store/deliveries.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'

/** The job object of the interface. The `callback_` counts appear once delivery has started. */
export function toSliceJob(job: StoredSliceJob, outputRoot: string, callback: CallbackState | undefined): SliceJob {
  return {
    id: job.id,
    code: job.code ?? '',
    name: job.name,
    source_count: job.sourcePaths.length,
    source_paths: [...job.sourcePaths],
    target_code: job.targetCode,
    // Which version it will be is decided when the job runs.
    output_root: join(outputRoot, job.targetCode, job.version ?? ''),
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

/** Job objects with the state of their callbacks. */
export async function toSliceJobs(
  sql: Queryable,
  jobs: readonly StoredSliceJob[],
  outputRoot: string,
): Promise<SliceJob[]> {
  const withCallback = jobs.filter((job) => job.callbackUrl !== '').map((job) => job.id)
  const callbacks = withCallback.length === 0 ? new Map() : await readCallbackStates(sql, withCallback)
  return jobs.map((job) => toSliceJob(job, outputRoot, callbacks.get(job.id)))
}
