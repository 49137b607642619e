import type { KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded as codedMessage } from '@gateway/contracts/messages.js'
import type { SliceEncoding, SliceOutput, SliceResampling, SliceStatus } from '@gateway/contracts/slice.js'
import type { Queryable, Sql, Transaction } from './connect.js'
import {
  cancelQueuedJob,
  claimQueuedJob,
  finishCancelled,
  finishJob,
  holds,
  type JobEnd,
  type JobLease,
} from './jobs.js'
import { type KeptTrace, traceColumn } from './kept-trace.js'
import { type Keys, type Listed, type Listing, type ListRequest, readKeys, readList } from './listing.js'

/** A job in lists: without the paths of its images, of which there may be thousands. */
export interface ListedSliceJob {
  readonly id: string
  readonly code: string | null
  readonly name: string
  readonly sourceCount: number
  readonly targetCode: string
  /** null until the job first runs */
  readonly version: string | null
  readonly zoomMin: number
  readonly zoomMax: number
  /** true while the zoom is to be derived from the sources; `zoomMax` is `zoomMin` until then */
  readonly zoomMaxNative: boolean
  readonly tileSize: number
  readonly tileFormat: string
  readonly tileMatrixSet: KnownTileMatrixSetId
  readonly encoding: SliceEncoding
  readonly resampling: SliceResampling
  readonly output: SliceOutput
  readonly status: SliceStatus
  readonly message: string
  /** code and parameters of the message; null: none */
  readonly messageCoded: CodedMessage | null
  /** warnings about the submission, and those from the headers of the images */
  readonly warnings: readonly CodedMessage[]
  readonly progress: number
  readonly phase: string
  readonly logPath: string
  readonly callbackUrl: string
  readonly requestedBy: string
  /** id of the token; null: an administrator */
  readonly submittedBy: string | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  /** true if it was cancelled; its status is then `failed` */
  readonly cancelled: boolean
  /** time at which somebody acknowledged its failure */
  readonly acknowledgedAt: Date | null
}

export interface StoredSliceJob extends ListedSliceJob {
  readonly sourcePaths: readonly string[]
  /** trace of its submission; null: each run starts one */
  readonly trace: KeptTrace | null
}

export type NewSliceJob = Pick<
  StoredSliceJob,
  | 'code'
  | 'name'
  | 'sourcePaths'
  | 'targetCode'
  | 'zoomMin'
  | 'zoomMax'
  | 'zoomMaxNative'
  | 'tileSize'
  | 'tileFormat'
  | 'tileMatrixSet'
  | 'encoding'
  | 'resampling'
  | 'callbackUrl'
  | 'requestedBy'
> & {
  /** null: the form of the existing layer, or else a folder */
  readonly output: SliceOutput | null
  readonly trace?: KeptTrace | null
  readonly warnings?: readonly CodedMessage[]
}

/** Channel that tells every runner that a job was submitted or is to be cancelled. */
export const SLICING_CHANNEL = 'gateway_slicing'

/** The submitting token, with the maximum number of its pending and running jobs. */
export interface Submitter {
  readonly tokenId: string
  readonly maxOpen: number
}

export interface Accepted {
  readonly state: 'queued' | 'known'
  readonly job: StoredSliceJob
}

/** `full`: the submitter has the maximum number of open jobs. */
export type Submitted = Accepted | { readonly state: 'full' }

/** First half of the advisory lock that serialises the submissions of a token; the second half is the token. */
const SUBMISSION_LOCK = 891_010

/** Queues a job, or returns the existing one with its code, even beyond the limit. `submitter` null: no limit. */
export async function submitSliceJob(tx: Transaction, job: NewSliceJob, submitter: null): Promise<Accepted>
export async function submitSliceJob(tx: Transaction, job: NewSliceJob, submitter: Submitter): Promise<Submitted>
export async function submitSliceJob(
  tx: Transaction,
  job: NewSliceJob,
  submitter: Submitter | null,
): Promise<Submitted> {
  const known = await readSliceJobByCode(tx, job.code)
  if (known !== null) return { state: 'known', job: known }
  if (submitter !== null && (await isFull(tx, submitter))) return { state: 'full' }
  const [row] = await tx<StoredSliceJob[]>`
    INSERT INTO slice_jobs (code, name, source_paths, target_code, zoom_min, zoom_max, zoom_max_native, tile_size, tile_format,
                            tile_matrix_set, encoding, resampling, output, callback_url, requested_by, submitted_by, trace, warnings)
    VALUES (${job.code}, ${job.name}, ${job.sourcePaths as string[]}, ${job.targetCode}, ${job.zoomMin}, ${job.zoomMax}, ${job.zoomMaxNative},
            ${job.tileSize}, ${job.tileFormat}, ${job.tileMatrixSet}, ${job.encoding}, ${job.resampling}, ${job.output ?? 'folder'}, ${job.callbackUrl}, ${job.requestedBy}, ${submitter?.tokenId ?? null},
            ${traceColumn(tx, job.trace)}, ${tx.json([...(job.warnings ?? [])])})
    ON CONFLICT (code) DO NOTHING
    RETURNING ${columns(tx)}`
  if (row === undefined) return { state: 'known', job: (await readSliceJobByCode(tx, job.code)) as StoredSliceJob }
  await tx`SELECT pg_notify(${SLICING_CHANNEL}, '')`
  return { state: 'queued', job: row }
}

/** Returns the job with this idempotency key, or null. */
export async function readSliceJobByCode(tx: Transaction, code: string | null): Promise<StoredSliceJob | null> {
  if (code === null) return null
  const [known] = await tx<StoredSliceJob[]>`SELECT ${columns(tx)} FROM slice_jobs WHERE code = ${code}`
  return known ?? null
}

/** Serialises the submissions of a token until the transaction ends, so that two cannot both find the last place. */
async function isFull(tx: Transaction, { tokenId, maxOpen }: Submitter): Promise<boolean> {
  await tx`SELECT pg_advisory_xact_lock(${SUBMISSION_LOCK}::int, hashtext(${tokenId}))`
  const [open] = await tx<{ n: number }[]>`
    SELECT count(*)::int AS n FROM slice_jobs WHERE submitted_by = ${tokenId} AND status IN ('pending', 'running')`
  return (open?.n ?? 0) >= maxOpen
}

export async function readSliceJob(sql: Queryable, id: string): Promise<StoredSliceJob | null> {
  const [row] = await sql<StoredSliceJob[]>`SELECT ${columns(sql)} FROM slice_jobs WHERE id = ${id}`
  return row ?? null
}

/** Returns unfinished jobs of these layers, in the order in which they run. */
export async function readOpenSliceJobs(sql: Queryable, targetCodes: readonly string[]): Promise<ListedSliceJob[]> {
  return sql<ListedSliceJob[]>`
    SELECT ${listedColumns(sql)} FROM slice_jobs
    WHERE status IN ('pending', 'running') AND target_code = ANY(${targetCodes as string[]}::text[]) ORDER BY submission`
}

export const SLICE_JOB_LISTING = {
  searched: { id: 'id', code: 'code', name: 'name', layer: 'target_code', requester: 'requested_by' },
  sortable: {
    // Ids are assigned in the order of submission.
    created_at: 'submission',
    name: 'lower(name)',
    code: 'code',
    target_code: 'target_code',
    status: 'status',
    progress: 'progress',
    requested_by: 'requested_by',
    started_at: 'started_at',
    finished_at: 'finished_at',
  },
  nullable: ['code', 'started_at', 'finished_at'],
  order: '-created_at',
  key: 'submission',
  filters: {
    status: 'status = $',
    cancelled: 'cancelled = $',
    acknowledged: '(acknowledged_at IS NOT NULL) = $',
    target_code: 'target_code = $',
    requested_by: 'requested_by = $',
  },
} satisfies Listing

/** Lists jobs, newest first. */
export function listSliceJobs(sql: Queryable, request: ListRequest): Promise<Listed<ListedSliceJob>> {
  const selection = { columns: listedColumns(sql), from: sql`slice_jobs` }
  return readList<ListedSliceJob>(sql, SLICE_JOB_LISTING, selection, request)
}

/** Returns the ids of all jobs that match a list request. */
export function findSliceJobIds(sql: Queryable, request: ListRequest, most: number): Promise<Keys> {
  return readKeys(sql, SLICE_JOB_LISTING, { columns: sql`id AS key`, from: sql`slice_jobs` }, request, most)
}

export interface ClaimedSliceJob {
  readonly job: StoredSliceJob
  readonly lease: JobLease
}

/** Claims the oldest unfinished job (`claimQueuedJob`). Returns null if every job is finished, or another process runs one. */
export async function claimSliceJob(sql: Sql, owner: string, leaseSeconds: number): Promise<ClaimedSliceJob | null> {
  const lease = await claimQueuedJob(sql, 'slice_jobs', owner, leaseSeconds)
  const job = lease && (await readSliceJob(sql, lease.id))
  return lease && job && { job, lease }
}

/** Stores the place of the job's layer and log, as soon as it is decided. */
export async function placeSliceJob(
  sql: Queryable,
  lease: JobLease,
  place: { readonly version: string; readonly logPath: string },
): Promise<boolean> {
  const rows = await sql`
    UPDATE slice_jobs SET version = ${place.version}, log_path = ${place.logPath} WHERE ${holds(sql, lease)} RETURNING id`
  return rows.length > 0
}

/** Stores the maximum zoom of a job's tiles, if the sources decided it. */
export async function noteSliceZoom(sql: Queryable, lease: JobLease, zoomMax: number): Promise<void> {
  await sql`UPDATE slice_jobs SET zoom_max = ${zoomMax} WHERE ${holds(sql, lease)} AND zoom_max_native`
}

/** Stores warnings from the plan of a job, in addition to those of its submission. */
export async function noteSliceWarnings(
  sql: Queryable,
  lease: JobLease,
  warnings: readonly CodedMessage[],
): Promise<void> {
  await sql`UPDATE slice_jobs SET warnings = ${sql.json([...warnings])} WHERE ${holds(sql, lease)}`
}

export type SliceEnd = JobEnd | 'cancelled'

/** Ends a job. Returns null if another process holds the lease; the caller's transaction must then roll back. */
export async function finishSliceJob(tx: Transaction, lease: JobLease, end: SliceEnd): Promise<StoredSliceJob | null> {
  const isFinished =
    end === 'cancelled'
      ? await finishCancelled(tx, 'slice_jobs', lease, codedMessage('slice_cancelled'))
      : await finishJob(tx, lease, end)
  return isFinished ? readSliceJob(tx, lease.id) : null
}

export type Cancelled = 'unknown' | 'finished' | { readonly job: StoredSliceJob; readonly ended: boolean }

/** Cancels a job by `cancelQueuedJob`. */
export async function cancelSliceJob(tx: Transaction, id: string, said: CodedMessage): Promise<Cancelled> {
  const how = await cancelQueuedJob(tx, 'slice_jobs', SLICING_CHANNEL, id, said)
  const job = await readSliceJob(tx, id)
  if (job === null) return 'unknown'
  return how === null ? 'finished' : { job, ended: how === 'ended' }
}

/** Records that somebody has seen a failure. A second call keeps the first time. Returns null if there is no such failed job. */
export async function acknowledgeSliceJob(tx: Transaction, id: string): Promise<StoredSliceJob | null> {
  const [row] = await tx<StoredSliceJob[]>`
    UPDATE slice_jobs SET acknowledged_at = coalesce(acknowledged_at, now())
    WHERE id = ${id} AND status = 'failed' RETURNING ${columns(tx)}`
  return row ?? null
}

function columns(sql: Queryable) {
  return sql`${listedColumns(sql)}, source_paths AS "sourcePaths", trace`
}

function listedColumns(sql: Queryable) {
  return sql`
    id, code, name, cardinality(source_paths) AS "sourceCount", target_code AS "targetCode", version, zoom_min AS "zoomMin", zoom_max AS "zoomMax", zoom_max_native AS "zoomMaxNative",
    tile_size AS "tileSize", tile_format AS "tileFormat", tile_matrix_set AS "tileMatrixSet", encoding, resampling, output, status, message, message_coded AS "messageCoded", warnings, progress, phase, log_path AS "logPath",
    callback_url AS "callbackUrl", requested_by AS "requestedBy", submitted_by AS "submittedBy", created_at AS "createdAt", started_at AS "startedAt",
    finished_at AS "finishedAt", cancelled, acknowledged_at AS "acknowledgedAt"`
}
