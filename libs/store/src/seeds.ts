import type { Bounds } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { SEED_STATUSES, Seed } from '@gateway/contracts/seed.js'
import type { Queryable, Sql, Transaction } from './connect.js'
import { cancelQueuedJob, claimQueuedJob, failedBy, finishCancelled, finishJob, holds, type JobLease } from './jobs.js'
import { type KeptTrace, traceColumn } from './kept-trace.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'

/** A job that fetches tiles of a service before they are asked for. */
export interface StoredSeed {
  readonly id: string
  readonly basemapCode: string
  readonly version: string
  readonly bounds: Bounds
  readonly minZoom: number
  readonly maxZoom: number
  /** requests a second */
  readonly rate: number
  readonly status: (typeof SEED_STATUSES)[number]
  readonly cancelled: boolean
  readonly message: string
  readonly messageCoded: CodedMessage | null
  readonly total: number
  /** tiles that have ended, in the order of the job */
  readonly done: number
  readonly failed: number
  /** the first tiles that failed */
  readonly failures: Seed['failures']
  readonly requestedBy: string
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  /** trace of its request; null: each run starts one */
  readonly trace: KeptTrace | null
}

/** Channel that tells every runner that a job was requested or is to be cancelled. */
export const SEEDS_CHANNEL = 'gateway_seeds'

/** Maximum number of jobs that have not ended. */
export const MAX_OPEN_SEEDS = 100

export type NewSeed = Pick<
  StoredSeed,
  'basemapCode' | 'version' | 'bounds' | 'minZoom' | 'maxZoom' | 'rate' | 'total' | 'requestedBy' | 'trace'
>

/** Returns null if the maximum number of jobs is waiting. */
export async function insertSeed(tx: Transaction, wanted: NewSeed): Promise<StoredSeed | null> {
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO seeds (basemap_code, version, bounds, min_zoom, max_zoom, rate, total, requested_by, trace)
    SELECT ${wanted.basemapCode}, ${wanted.version}, ${wanted.bounds as number[]}::float8[], ${wanted.minZoom}::int, ${wanted.maxZoom}::int,
           ${wanted.rate}::int, ${wanted.total}::bigint, ${wanted.requestedBy}, ${traceColumn(tx, wanted.trace)}
    WHERE (SELECT count(*) FROM seeds WHERE status IN ('pending', 'running')) < ${MAX_OPEN_SEEDS}
    RETURNING id`
  if (row === undefined) return null
  await tx`SELECT pg_notify(${SEEDS_CHANNEL}, '')`
  return readSeed(tx, row.id)
}

export async function readSeed(sql: Queryable, id: string): Promise<StoredSeed | null> {
  const [row] = await sql<StoredSeed[]>`SELECT ${columns(sql)} FROM seeds WHERE id = ${id}`
  return row ?? null
}

export const SEED_LISTING = {
  searched: { basemap: 'basemap_code', requester: 'requested_by' },
  sortable: {
    created_at: 'submission',
    started_at: 'started_at',
    finished_at: 'finished_at',
    status: 'status',
    basemap_code: 'basemap_code',
    requested_by: 'requested_by',
    total: 'total',
  },
  nullable: ['started_at', 'finished_at'],
  order: '-created_at',
  key: 'submission',
  filters: { status: 'status = $', cancelled: 'cancelled = $', basemap_code: 'basemap_code = $' },
} satisfies Listing

export function listSeeds(sql: Queryable, request: ListRequest): Promise<Listed<StoredSeed>> {
  return readList<StoredSeed>(sql, SEED_LISTING, { columns: columns(sql), from: sql`seeds` }, request)
}

export interface ClaimedSeed {
  readonly seed: StoredSeed
  readonly lease: JobLease
}

/** Claims the oldest unfinished job (`claimQueuedJob`). Returns null if every job is finished, or another process runs one. */
export async function claimSeed(sql: Sql, owner: string, leaseSeconds: number): Promise<ClaimedSeed | null> {
  const lease = await claimQueuedJob(sql, 'seeds', owner, leaseSeconds)
  const seed = lease && (await readSeed(sql, lease.id))
  return lease && seed && { seed, lease }
}

/** Stores which tiles have ended, behind which another runner continues, and why the job waits (null: it does not wait). */
export async function noteSeeded(
  sql: Queryable,
  lease: JobLease,
  { done, failed, failures }: Pick<StoredSeed, 'done' | 'failed' | 'failures'>,
  said: CodedMessage | null,
): Promise<void> {
  const message = said === null ? '' : failedBy(said).failed
  await sql`
    UPDATE seeds SET done = ${done}, failed = ${failed}, failures = ${sql.json(failures)}, message = ${message}, message_coded = ${said && sql.json(said)}
    WHERE ${holds(sql, lease)}`
}

export type SeedEnd = 'succeeded' | 'cancelled' | { readonly failed: CodedMessage }

/** Ends a job. Returns null, without writing, if the lease is lost. */
export async function finishSeed(tx: Transaction, lease: JobLease, end: SeedEnd): Promise<StoredSeed | null> {
  const isFinished =
    end === 'cancelled'
      ? await finishCancelled(tx, 'seeds', lease, coded('seed_cancelled'))
      : await finishJob(tx, lease, end === 'succeeded' ? end : failedBy(end.failed))
  return isFinished ? readSeed(tx, lease.id) : null
}

/** Cancels a job by `cancelQueuedJob`. */
export async function cancelSeed(
  tx: Transaction,
  id: string,
  said: CodedMessage,
): Promise<'unknown' | 'finished' | StoredSeed> {
  const how = await cancelQueuedJob(tx, 'seeds', SEEDS_CHANNEL, id, said)
  const seed = await readSeed(tx, id)
  if (seed === null) return 'unknown'
  return how === null ? 'finished' : seed
}

/** Deletes jobs that ended so long ago. */
export async function pruneSeeds(sql: Sql, days: number): Promise<number> {
  const { count } = await sql`DELETE FROM seeds WHERE finished_at < now() - make_interval(days => ${days})`
  return count
}

function columns(sql: Queryable) {
  return sql`
    id, basemap_code AS "basemapCode", version, bounds, min_zoom AS "minZoom", max_zoom AS "maxZoom", rate, status, cancelled, message,
    message_coded AS "messageCoded", total::float8 AS total, done::float8 AS done, failed::float8 AS failed, failures, requested_by AS "requestedBy",
    created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt", trace`
}
