import type { SliceStatus } from '@gateway/contracts/slice.js'
import type { Queryable, Sql, Transaction } from './connect.js'

export interface StoredSliceJob {
  readonly id: string
  readonly code: string | null
  readonly name: string
  readonly sourcePaths: readonly string[]
  readonly targetCode: string
  /** null until the job first runs */
  readonly version: string | null
  readonly zoomMin: number
  readonly zoomMax: number
  readonly tileSize: number
  readonly tileFormat: string
  readonly status: SliceStatus
  readonly message: string
  readonly progress: number
  readonly phase: string
  readonly logPath: string
  readonly callbackUrl: string
  readonly requestedBy: string
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export type NewSliceJob = Pick<
  StoredSliceJob,
  | 'code'
  | 'name'
  | 'sourcePaths'
  | 'targetCode'
  | 'zoomMin'
  | 'zoomMax'
  | 'tileSize'
  | 'tileFormat'
  | 'callbackUrl'
  | 'requestedBy'
>

/** Heard by every runner: a job was submitted or is to be cancelled. */
export const SLICING_CHANNEL = 'gateway_slicing'

/** Queues a job, or answers the one that has this code already. */
export async function submitSliceJob(sql: Sql, job: NewSliceJob): Promise<{ job: StoredSliceJob; isNew: boolean }> {
  const [row] = await sql<StoredSliceJob[]>`
    INSERT INTO slice_jobs (code, name, source_paths, target_code, zoom_min, zoom_max, tile_size, tile_format, callback_url, requested_by)
    VALUES (${job.code}, ${job.name}, ${job.sourcePaths as string[]}, ${job.targetCode}, ${job.zoomMin}, ${job.zoomMax},
            ${job.tileSize}, ${job.tileFormat}, ${job.callbackUrl}, ${job.requestedBy})
    ON CONFLICT (code) DO NOTHING
    RETURNING ${columns(sql)}`
  if (row !== undefined) {
    await sql.notify(SLICING_CHANNEL, '')
    return { job: row, isNew: true }
  }
  const [known] = await sql<StoredSliceJob[]>`SELECT ${columns(sql)} FROM slice_jobs WHERE code = ${job.code}`
  return { job: known as StoredSliceJob, isNew: false }
}

export async function readSliceJob(sql: Queryable, id: string): Promise<StoredSliceJob | null> {
  const [row] = await sql<StoredSliceJob[]>`SELECT ${columns(sql)} FROM slice_jobs WHERE id = ${id}`
  return row ?? null
}

/** Jobs of these layers that have not ended, in the order in which they run. */
export async function readOpenSliceJobs(sql: Queryable, targetCodes: readonly string[]): Promise<StoredSliceJob[]> {
  return sql<StoredSliceJob[]>`
    SELECT ${columns(sql)} FROM slice_jobs
    WHERE status IN ('pending', 'running') AND target_code = ANY(${targetCodes as string[]}::text[]) ORDER BY submission`
}

/** The newest first; `total` counts all, whatever the page. */
export async function listSliceJobs(
  sql: Queryable,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ items: StoredSliceJob[]; total: number }> {
  const items = await sql<StoredSliceJob[]>`
    SELECT ${columns(sql)} FROM slice_jobs ORDER BY submission DESC LIMIT ${page.limit} OFFSET ${page.offset}`
  const [count] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM slice_jobs`
  return { items, total: count?.n ?? 0 }
}

/** The right to run one job. Every later statement names it: a process that lost it without noticing can write nothing. */
export interface SliceLease {
  readonly jobId: string
  readonly owner: string
  readonly fence: number
}

/**
 * Claims the oldest unfinished job, if it is pending or its runner's lease has expired; null: there is none, or it runs elsewhere. A job
 * that ran before begins again from its start.
 */
export async function claimSliceJob(
  sql: Sql,
  owner: string,
  leaseSeconds: number,
): Promise<{ job: StoredSliceJob; lease: SliceLease } | null> {
  const [row] = await sql<(StoredSliceJob & { fence: number })[]>`
    UPDATE slice_jobs SET
      status = 'running', lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds}), fence = fence + 1,
      progress = 0, phase = '', message = '', started_at = now()
    WHERE id = (SELECT id FROM slice_jobs WHERE status IN ('pending', 'running') ORDER BY submission LIMIT 1)
      AND (status = 'pending' OR (status = 'running' AND lease_until < now()))
    RETURNING ${columns(sql)}, fence`
  if (row === undefined) return null
  const { fence, ...job } = row
  return { job, lease: { jobId: job.id, owner, fence } }
}

/** What a runner tells of a job while it runs. */
export interface SliceProgress {
  readonly progress: number
  readonly phase: string
}

export type Renewal = 'held' | 'cancel' | 'lost'

/** Renews the lease and writes the progress down; tells whether the job is to be cancelled, or the lease is somebody else's by now. */
export async function renewSliceLease(
  sql: Queryable,
  lease: SliceLease,
  leaseSeconds: number,
  { progress, phase }: SliceProgress,
): Promise<Renewal> {
  const [row] = await sql<{ cancel_asked: boolean }[]>`
    UPDATE slice_jobs SET lease_until = now() + make_interval(secs => ${leaseSeconds}), progress = ${progress}, phase = ${phase}
    WHERE ${holds(sql, lease)} RETURNING cancel_asked`
  if (row === undefined) return 'lost'
  return row.cancel_asked ? 'cancel' : 'held'
}

/** Notes where the job's layer and log are, as soon as that is decided. */
export async function placeSliceJob(
  sql: Queryable,
  lease: SliceLease,
  place: { readonly version: string; readonly logPath: string },
): Promise<boolean> {
  const rows = await sql`
    UPDATE slice_jobs SET version = ${place.version}, log_path = ${place.logPath} WHERE ${holds(sql, lease)} RETURNING id`
  return rows.length > 0
}

/** Ends a job; null: the lease is somebody else's by now, and the caller's transaction must not commit. */
export async function finishSliceJob(
  tx: Transaction,
  lease: SliceLease,
  outcome: { readonly status: 'succeeded' | 'failed'; readonly message: string },
): Promise<StoredSliceJob | null> {
  const [row] = await tx<StoredSliceJob[]>`
    UPDATE slice_jobs SET
      status = ${outcome.status}, message = ${outcome.message}, finished_at = now(), lease_owner = NULL, lease_until = NULL, phase = '',
      progress = CASE WHEN ${outcome.status} = 'succeeded' THEN 100 ELSE progress END
    WHERE ${holds(tx, lease)} RETURNING ${columns(tx)}`
  return row ?? null
}

/** A process that ends gives its job back: the next one need not wait for the lease to expire. */
export async function returnSliceJob(sql: Queryable, lease: SliceLease): Promise<void> {
  await sql`
    UPDATE slice_jobs SET status = 'pending', lease_owner = NULL, lease_until = NULL, progress = 0, phase = ''
    WHERE ${holds(sql, lease)}`
}

export type Cancelled = 'unknown' | 'finished' | { readonly job: StoredSliceJob; readonly ended: boolean }

/** Cancels a job: a pending one ends here and now, a running one is asked to, a finished one stays as it is. */
export async function cancelSliceJob(tx: Transaction, id: string, message: string): Promise<Cancelled> {
  const known = await readSliceJob(tx, id)
  if (known === null) return 'unknown'
  const [ended] = await tx<StoredSliceJob[]>`
    UPDATE slice_jobs SET status = 'failed', message = ${message}, finished_at = now()
    WHERE id = ${id} AND status = 'pending' RETURNING ${columns(tx)}`
  if (ended !== undefined) return { job: ended, ended: true }
  const [asked] = await tx<StoredSliceJob[]>`
    UPDATE slice_jobs SET cancel_asked = true WHERE id = ${id} AND status = 'running' RETURNING ${columns(tx)}`
  await tx`SELECT pg_notify(${SLICING_CHANNEL}, '')`
  return asked === undefined ? 'finished' : { job: asked, ended: false }
}

function holds(sql: Queryable, lease: SliceLease) {
  return sql`id = ${lease.jobId} AND lease_owner = ${lease.owner} AND fence = ${lease.fence} AND status = 'running'`
}

function columns(sql: Queryable) {
  return sql`
    id, code, name, source_paths AS "sourcePaths", target_code AS "targetCode", version, zoom_min AS "zoomMin", zoom_max AS "zoomMax",
    tile_size AS "tileSize", tile_format AS "tileFormat", status, message, progress, phase, log_path AS "logPath",
    callback_url AS "callbackUrl", requested_by AS "requestedBy", created_at AS "createdAt", started_at AS "startedAt",
    finished_at AS "finishedAt"`
}
