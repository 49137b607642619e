import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'
import type { Queryable, Sql, Transaction } from './connect.js'

/** Kinds of jobs that wait in their own tables, which inherit `jobs`. */
export type QueuedTable = 'slice_jobs' | 'exports' | 'seeds'

/** Those that an administrator may cancel. */
type CancellableTable = Exclude<QueuedTable, 'exports'>

/** A job that is a row of `jobs` only while it runs. Only one process at a time runs the job of a kind and code. */
export interface ExclusiveJob {
  readonly kind: 'scan' | 'vector_build' | 'folder_watch' | 'housekeeping'
  /** subject of the job; '' if the kind has only one job */
  readonly code: string
}

/** The right to run one job. Every later statement includes it, so a process that lost it unnoticed cannot write. */
export interface JobLease {
  /** id of the job */
  readonly id: string
  readonly owner: string
  readonly fence: number
}

/** The progress that a process reports while it runs a job. */
export interface JobProgress {
  /** percent */
  readonly progress: number
  readonly phase: string
}

/**
 * Claims the oldest unfinished job of a table, if it is pending or the lease of its runner has expired. Returns null if every job is finished, or
 * another process runs one. One job of a table runs at a time, in the order of submission. A job that ran before starts again.
 */
export async function claimQueuedJob(
  sql: Sql,
  table: QueuedTable,
  owner: string,
  leaseSeconds: number,
): Promise<JobLease | null> {
  const [row] = await sql<{ id: string; fence: number }[]>`
    UPDATE ${sql(table)} SET
      status = 'running', lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds}), fence = fence + 1,
      progress = 0, phase = '', message = '', message_coded = NULL, started_at = now()
    WHERE id = (SELECT id FROM ${sql(table)} WHERE status IN ('pending', 'running') ORDER BY submission LIMIT 1)
      AND (status = 'pending' OR (status = 'running' AND NOT ${isLeased(sql)}))
    RETURNING id, fence`
  return row === undefined ? null : { ...row, owner }
}

/** Starts a job without a row. Returns null if another process runs it. A takeover waits for a transaction that called `holdLease`. */
export async function claimExclusiveJob(
  sql: Queryable,
  { kind, code }: ExclusiveJob,
  owner: string,
  leaseSeconds: number,
): Promise<JobLease | null> {
  // A new id changes the key, so the row must be free of every other lock.
  const [row] = await sql<{ id: string; fence: number }[]>`
    INSERT INTO jobs (kind, code, started_at, lease_owner, lease_until)
    VALUES (${kind}, ${code}, now(), ${owner}, now() + make_interval(secs => ${leaseSeconds}))
    ON CONFLICT (kind, code) DO UPDATE SET
      id = excluded.id, started_at = excluded.started_at, lease_owner = excluded.lease_owner, lease_until = excluded.lease_until,
      fence = jobs.fence + 1
    WHERE NOT ${isLeased(sql, 'jobs.lease_until')}
    RETURNING id, fence`
  return row === undefined ? null : { ...row, owner }
}

/** Locks an exclusive job until the transaction ends: no process takes it over meanwhile, and renewals continue. Returns false if the lease is lost. */
export async function holdLease(tx: Transaction, lease: JobLease): Promise<boolean> {
  const rows = await tx`SELECT FROM ONLY jobs WHERE ${holds(tx, lease)} FOR KEY SHARE`
  return rows.length > 0
}

export type Renewal = 'held' | 'cancel' | 'lost'

/** Renews the lease and stores the progress. Returns `cancel` if the job is to be cancelled, and `lost` if another process holds the lease. */
export async function renewLease(
  sql: Queryable,
  lease: JobLease,
  leaseSeconds: number,
  { progress, phase }: JobProgress,
): Promise<Renewal> {
  const [row] = await sql<{ cancel_asked: boolean }[]>`
    UPDATE jobs SET lease_until = now() + make_interval(secs => ${leaseSeconds}), progress = ${progress}, phase = ${phase}
    WHERE ${holds(sql, lease)} RETURNING cancel_asked`
  if (row === undefined) return 'lost'
  return row.cancel_asked ? 'cancel' : 'held'
}

/** `coded`: code and parameters of the reason; null: none */
export type JobEnd = 'succeeded' | { readonly failed: string; readonly coded?: CodedMessage | null }

export function failedBy(said: CodedMessage): Exclude<JobEnd, 'succeeded'> {
  return { failed: textOf(said), coded: said }
}

/** Ends a queued job. Returns false, without writing, if the lease is lost; the caller's transaction must then roll back. */
export async function finishJob(tx: Transaction, lease: JobLease, end: JobEnd): Promise<boolean> {
  const succeeded = end === 'succeeded'
  const { failed = '', coded = null } = succeeded ? {} : end
  const { count } = await tx`
    UPDATE jobs SET
      status = ${succeeded ? 'succeeded' : 'failed'}, message = ${failed}, message_coded = ${coded && tx.json(coded)},
      progress = CASE WHEN ${succeeded} THEN 100 ELSE progress END,
      finished_at = now(), lease_owner = NULL, lease_until = NULL, phase = ''
    WHERE ${holds(tx, lease)}`
  return count > 0
}

/** Ends a queued job as cancelled, for the reason of whoever cancelled it. Returns false, without writing, if the lease is lost. */
export async function finishCancelled(
  tx: Transaction,
  table: CancellableTable,
  lease: JobLease,
  otherwise: CodedMessage,
): Promise<boolean> {
  const [row] = await tx<{ said: CodedMessage | null }[]>`
    SELECT cancel_coded AS said FROM ${tx(table)} WHERE id = ${lease.id}`
  if (!(await finishJob(tx, lease, failedBy(row?.said ?? otherwise)))) return false
  await tx`UPDATE ${tx(table)} SET cancelled = true WHERE id = ${lease.id}`
  return true
}

/**
 * Cancels a queued job: a pending one ends at once, a running one as soon as its runner notices, and a finished one stays unchanged (null). `said`
 * names the administrator and the time. Only the first request counts. `channel` tells the runners.
 */
export async function cancelQueuedJob(
  tx: Transaction,
  table: CancellableTable,
  channel: string,
  id: string,
  said: CodedMessage,
): Promise<'ended' | 'asked' | null> {
  const [row] = await tx<{ status: 'pending' | 'running'; said: CodedMessage }[]>`
    UPDATE ${tx(table)} SET cancel_asked = true, cancel_coded = coalesce(cancel_coded, ${tx.json(said)})
    WHERE id = ${id} AND status IN ('pending', 'running') RETURNING status, cancel_coded AS said`
  if (row?.status === 'pending') {
    await tx`
      UPDATE ${tx(table)} SET status = 'failed', message = ${textOf(row.said)}, message_coded = ${tx.json(row.said)}, cancelled = true, finished_at = now()
      WHERE id = ${id}`
  }
  await tx`SELECT pg_notify(${channel}, '')`
  return row === undefined ? null : row.status === 'pending' ? 'ended' : 'asked'
}

/** Returns the job of a stopping process to its queue, so that its next runner need not wait for the lease to expire. */
export async function returnJob(sql: Queryable, lease: JobLease): Promise<void> {
  await sql`
    UPDATE jobs SET status = 'pending', lease_owner = NULL, lease_until = NULL, progress = 0, phase = '' WHERE ${holds(sql, lease)}`
}

/** Ends an exclusive job. Returns false if the lease was lost. */
export async function endExclusiveJob(sql: Queryable, lease: JobLease): Promise<boolean> {
  const { count } = await sql`DELETE FROM ONLY jobs WHERE ${holds(sql, lease)}`
  return count > 0
}

/** Returns the condition of every statement that only the lease's holder may execute, on `jobs` or a table that inherits it. */
export function holds(sql: Queryable, { id, owner, fence }: JobLease) {
  return sql`id = ${id} AND lease_owner = ${owner} AND fence = ${fence} AND status = 'running'`
}

/** Longer than any lease. One that ends later was written before the clock of the store stepped back, and its holder would have renewed it. */
const MAX_LEASE_SECONDS = 120

/** Returns the condition of a row whose lease has not expired; for a row without a lease, it is unknown. */
export function isLeased(sql: Queryable, column = 'lease_until') {
  return sql`(${sql(column)} BETWEEN now() AND now() + make_interval(secs => ${MAX_LEASE_SECONDS}))`
}
