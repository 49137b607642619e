import { storedMessage } from '@gateway/contracts/messages.js'
import { hasRole, type Role } from '@gateway/contracts/operator.js'
import type { ListedSliceJob, SliceJob } from '@gateway/contracts/slice.js'
import { warningOf } from '@gateway/contracts/warning.js'
import { type CallbackState, readCallbackStates } from '@gateway/store/deliveries.js'
import type { Accepted, ListedSliceJob as ListedRow, NewSliceJob, StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { layerPath } from '../catalog/register/layer-path.js'
import { withoutSecrets } from '../deliveries/http/texts.js'
import type { ControlContext } from '../platform/context.js'
import { expectedVersions } from './layer-version.js'
import { knownJobWarning } from './warnings.js'

/** Builds the job object of the interface. The `callback_` counts appear once delivery has started. */
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
    output_root: layerPath(outputRoot, job, job.version ?? expectedVersion ?? ''),
    zoom_min: job.zoomMin,
    zoom_max: job.zoomMax,
    zoom_max_native: job.zoomMaxNative,
    tile_size: job.tileSize,
    tile_format: job.tileFormat,
    tile_matrix_set: job.tileMatrixSet,
    encoding: job.encoding,
    resampling: job.resampling,
    output: job.output,
    status: job.status,
    ...storedMessage(job.message, job.messageCoded),
    ...(job.warnings.length > 0 && { warnings: job.warnings.map(warningOf) }),
    log_path: job.logPath,
    callback_url: job.callbackUrl,
    callback_status: callback?.status ?? '',
    ...(callback !== undefined && callbackFields(callback)),
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    requested_by: job.requestedBy,
    progress: Math.round(job.progress * 10) / 10,
    cancelled: job.cancelled,
    acknowledged_at: job.acknowledgedAt?.toISOString() ?? null,
  }
}

/** Returns the callback members of a job whose delivery has started. */
export function callbackFields({
  attempts,
  message,
  messageCoded,
}: Pick<CallbackState, 'attempts' | 'message' | 'messageCoded'>) {
  return {
    callback_attempts: attempts,
    callback_message: message,
    callback_message_code: messageCoded?.code ?? null,
    callback_message_params: messageCoded?.params ?? null,
  }
}

type Facts = Pick<ControlContext, 'sql' | 'settings' | 'now'>

/** The receiver of a job object: a service token, or an administrator with a role. */
export type Reader = { readonly tokenId: string } | { readonly role: Role }

/** True if a reader may see the secrets in the callback URL: the submitter and admins may. */
function mayReport(reader: Reader, { submittedBy }: ListedRow): boolean {
  return 'role' in reader ? hasRole(reader.role, 'admin') : reader.tokenId === submittedBy
}

/** Builds a job object with the state of its callback and, while it waits, its expected version. */
export async function describeJob(ctx: Facts, reader: Reader, job: StoredSliceJob): Promise<SliceJob> {
  const [listed] = await describeJobs(ctx, reader, [job])
  return { ...(listed as ListedSliceJob), source_paths: [...job.sourcePaths] }
}

/** Builds the response to a submission, with a warning if its code returned a job that differs. */
export async function describeSubmitted(
  ctx: Facts,
  reader: Reader,
  { state, job }: Accepted,
  wanted: NewSliceJob,
): Promise<SliceJob> {
  const warning = state === 'known' ? knownJobWarning(wanted, job) : null
  return describeJob(ctx, reader, warning === null ? job : { ...job, warnings: [...job.warnings, warning] })
}

/** Builds many job objects, without the paths of their images. */
export async function describeJobs(
  { sql, settings, now }: Facts,
  reader: Reader,
  jobs: readonly ListedRow[],
): Promise<ListedSliceJob[]> {
  const withCallback = jobs.filter((job) => job.callbackUrl !== '').map((job) => job.id)
  const callbacks = withCallback.length === 0 ? new Map() : await readCallbackStates(sql, withCallback)
  const expected = await expectedVersions(sql, jobs, now())
  return jobs.map((job) => {
    const shown = mayReport(reader, job) ? job : { ...job, callbackUrl: withoutSecrets(job.callbackUrl) }
    return toListedJob(shown, settings.sliceOutputRoot, callbacks.get(job.id), expected.get(job.id))
  })
}
