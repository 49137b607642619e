import type { CodedMessage } from '@gateway/contracts/messages.js'
import { textOf } from '@gateway/contracts/messages.js'
import type { DeliveryStatus, PushRecord } from '@gateway/contracts/push.js'
import type { SentHead } from './audit-chain.js'
import type { Queryable, Transaction } from './connect.js'
import { type KeptTrace, traceColumn } from './kept-trace.js'
import { type Keys, type Listed, type Listing, type ListRequest, readKeys, readList } from './listing.js'

export type DeliveryKind = 'basemap_push' | 'vector_push' | 'slice_callback' | 'cache_purge' | 'event' | 'notification'

/** Messages are waiting sockets; transfers move files. */
export type Lane = 'message' | 'transfer'

export interface Delivery {
  readonly id: string
  readonly kind: DeliveryKind
  readonly status: DeliveryStatus
  /** number of attempts that ended since the delivery began or was last retried by hand */
  readonly attempts: number
  /** reason of the last failure; empty otherwise */
  readonly message: string
  /** code and parameters of the message; null: none */
  readonly messageCoded: CodedMessage | null
  readonly targetCode: string | null
  readonly basemapCode: string | null
  readonly version: string | null
  readonly vectorCode: string | null
  readonly jobId: string | null
  /** name of the event; null if it is not an event, or was not read */
  readonly event?: string | null
  /** subject of a notification; null if it is not one, or was not read */
  readonly subject?: string | null
  /** export whose archive is pushed instead of the version's files */
  readonly exportId: string | null
  /** content of that archive; null if none is pushed, or it was removed */
  readonly export: PushRecord['export']
  readonly url: string | null
  /** null: it has ended */
  readonly dueAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** time at which somebody acknowledged its failure */
  readonly acknowledgedAt: Date | null
}

/** Channel that tells every runner that a delivery is due. */
export const DELIVERIES_CHANNEL = 'gateway_deliveries'

export type NewPush =
  | {
      readonly kind: 'basemap_push'
      readonly basemapCode: string
      readonly version: string
      /** export whose archive is sent instead of the version's files */
      readonly exportId?: string
    }
  | { readonly kind: 'vector_push'; readonly vectorCode: string }

/** Inserts a push that is due at once. Runners are notified when the transaction commits. `trace` null: it starts a trace. */
export async function insertPush(
  tx: Transaction,
  target: { readonly code: string; readonly lane: Lane },
  push: NewPush,
  trace: KeptTrace | null = null,
): Promise<Delivery> {
  const basemap = push.kind === 'basemap_push' ? push : null
  const vectorCode = push.kind === 'vector_push' ? push.vectorCode : null
  const [row] = await tx<Delivery[]>`
    INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, vector_code, export_id, trace)
    VALUES (${push.kind}, ${target.lane}, ${target.code}, ${target.code}, ${basemap?.basemapCode ?? null},
            ${basemap?.version ?? null}, ${vectorCode}, ${basemap?.exportId ?? null}, ${traceColumn(tx, trace)})
    RETURNING ${columns(tx)}`
  await wakeRunners(tx)
  return row as Delivery
}

export interface NewEvent {
  /** such as `basemap.version.approved` */
  readonly event: string
  readonly basemapCode: string
  readonly version: string | null
  /** fields that are sent next to the event's name */
  readonly body: Readonly<Record<string, unknown>>
}

/** Inserts a message to each enabled HTTP target, in the transaction that makes the event. */
export async function insertEvents(tx: Transaction, event: NewEvent, trace: KeptTrace | null = null): Promise<void> {
  const body = { event: event.event, ...event.body }
  await tx`
    INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, body, trace)
    SELECT 'event', 'message', code, code, ${event.basemapCode}, ${event.version}, ${tx.json(body as never)}, ${traceColumn(tx, trace)}
    FROM targets WHERE kind = 'http' AND enabled`
  await wakeRunners(tx)
}

/** How often the head of the audit is sent. */
const HEAD_EVERY_HOURS = 24
const AUDIT_HEAD_EVENT = 'audit.head'

/** True if a target has received no head of the audit for a day. */
export async function isAuditHeadDue(sql: Queryable, targetCode: string): Promise<boolean> {
  const rows = await sql`
    SELECT FROM deliveries WHERE kind = 'event' AND target_code = ${targetCode} AND body->>'event' = ${AUDIT_HEAD_EVENT}
      AND created_at > now() - make_interval(hours => ${HEAD_EVERY_HOURS}) LIMIT 1`
  return rows.length === 0
}

/** When a target has received the newest head; null: it has received none. */
export async function auditHeadReceivedAt(sql: Queryable, targetCode: string): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    SELECT max(updated_at) AS at FROM deliveries
    WHERE kind = 'event' AND target_code = ${targetCode} AND body->>'event' = ${AUDIT_HEAD_EVENT} AND status = 'succeeded'`
  return row?.at ?? null
}

/** Limit: earlier heads that are compared with the chain. */
const MAX_SENT_HEADS = 500

/** Returns the heads that targets have received, newest first. */
export function sentAuditHeads(sql: Queryable): Promise<SentHead[]> {
  return sql<SentHead[]>`
    SELECT body->>'head' AS head, (body->>'head_position')::bigint AS head_position, body->>'at' AS at FROM deliveries
    WHERE kind = 'event' AND body->>'event' = ${AUDIT_HEAD_EVENT} AND status = 'succeeded'
    ORDER BY created_at DESC LIMIT ${MAX_SENT_HEADS}`
}

/** A message to one target, due at once. The lock on the chain's head makes it one in the whole cluster; false: another process has sent one. */
export async function insertAuditHead(
  tx: Transaction,
  targetCode: string,
  body: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  await tx`SELECT FROM audit_chain WHERE name = 'head' FOR UPDATE`
  if (!(await isAuditHeadDue(tx, targetCode))) return false
  await tx`
    INSERT INTO deliveries (kind, lane, destination, target_code, body)
    VALUES ('event', 'message', ${targetCode}, ${targetCode}, ${tx.json({ event: AUDIT_HEAD_EVENT, ...body } as never)})`
  await wakeRunners(tx)
  return true
}

export interface NewCallback {
  readonly jobId: string
  readonly url: string
  /** origin of the URL; deliveries to one receiver share its limit */
  readonly destination: string
  /** the finished job; each attempt fills in its `callback_` fields */
  readonly job: Readonly<Record<string, unknown>>
  /** trace of the job; null: the callback starts one */
  readonly trace?: KeptTrace | null
}

/** Inserts the callback of a finished job, due at once. A job has one callback, so a second insertion changes nothing. */
export async function insertCallback(tx: Transaction, callback: NewCallback): Promise<void> {
  await tx`
    INSERT INTO deliveries (kind, lane, destination, job_id, url, body, trace)
    VALUES ('slice_callback', 'message', ${callback.destination}, ${callback.jobId}, ${callback.url}, ${tx.json(callback.job as never)},
            ${traceColumn(tx, callback.trace)})
    ON CONFLICT (job_id) DO NOTHING`
  await wakeRunners(tx)
}

export interface CallbackState {
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly message: string
  readonly messageCoded: CodedMessage | null
}

/** Returns the states of the callbacks of these jobs, by job id. Jobs without a callback are omitted. */
export async function readCallbackStates(
  sql: Queryable,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, CallbackState>> {
  const rows = await sql<(CallbackState & { jobId: string })[]>`
    SELECT job_id AS "jobId", status, attempts, message, message_coded AS "messageCoded" FROM deliveries WHERE job_id = ANY(${jobIds as string[]}::uuid[])`
  return new Map(rows.map(({ jobId, ...state }) => [jobId, state]))
}

export async function readDelivery(sql: Queryable, kind: DeliveryKind, id: string): Promise<Delivery | null> {
  const [row] = await sql<Delivery[]>`SELECT ${columns(sql)} FROM deliveries WHERE id = ${id} AND kind = ${kind}`
  return row ?? null
}

const SORTABLE = {
  created_at: 'created_at',
  updated_at: 'updated_at',
  status: 'status',
  attempts: 'attempts',
  next_attempt_at: 'due_at',
  message: 'message',
}
const STATES = { status: 'status = $', acknowledged: '(acknowledged_at IS NOT NULL) = $' }
const NEWEST_FIRST = { nullable: ['next_attempt_at'], order: '-created_at', key: 'id' }

/** Callers put secrets into the query and user of a URL. A search must not reveal them bit by bit. */
const SHOWN_URL = "regexp_replace(url, '//[^/?#]*@|[?#].*$', '', 'g')"

/** The fields by which each kind of record can be searched, filtered and sorted. */
export const DELIVERY_LISTINGS = {
  basemap_push: {
    ...NEWEST_FIRST,
    searched: { target: 'target_code', basemap: 'basemap_code', version: 'version' },
    sortable: { ...SORTABLE, target_code: 'target_code', basemap_code: 'basemap_code', version: 'version' },
    filters: {
      ...STATES,
      target_code: 'target_code = $',
      basemap_code: 'basemap_code = $',
      version: 'version = $',
    },
  },
  vector_push: {
    ...NEWEST_FIRST,
    searched: { target: 'target_code', vector: 'vector_code' },
    sortable: { ...SORTABLE, target_code: 'target_code', vector_code: 'vector_code' },
    filters: { ...STATES, target_code: 'target_code = $', vector_code: 'vector_code = $' },
  },
  cache_purge: {
    ...NEWEST_FIRST,
    searched: { target: 'target_code', basemap: 'basemap_code', version: 'version' },
    sortable: { ...SORTABLE, target_code: 'target_code', basemap_code: 'basemap_code', version: 'version' },
    filters: { ...STATES, target_code: 'target_code = $', basemap_code: 'basemap_code = $' },
  },
  event: {
    ...NEWEST_FIRST,
    searched: { target: 'target_code', basemap: 'basemap_code', version: 'version' },
    sortable: { ...SORTABLE, target_code: 'target_code', basemap_code: 'basemap_code', version: 'version' },
    filters: { ...STATES, target_code: 'target_code = $', basemap_code: 'basemap_code = $' },
  },
  notification: {
    ...NEWEST_FIRST,
    searched: { target: 'target_code', address: 'url', subject: "body->>'subject'" },
    sortable: { ...SORTABLE, target_code: 'target_code' },
    filters: STATES,
  },
  slice_callback: {
    ...NEWEST_FIRST,
    searched: { address: SHOWN_URL },
    sortable: { ...SORTABLE, callback_url: SHOWN_URL },
    filters: { ...STATES, job_id: 'job_id = $::uuid' },
  },
} satisfies Record<DeliveryKind, Listing>

/** @param before id of the last record of the previous page, for clients that page by id; `total` does not depend on it */
export function listDeliveries(
  sql: Queryable,
  kind: DeliveryKind,
  { before = null, ...request }: ListRequest & { readonly before?: string | null | undefined },
): Promise<Listed<Delivery>> {
  const older = sql`(created_at, id) < (SELECT created_at, id FROM deliveries WHERE id = ${before}::uuid)`
  return readList<Delivery>(
    sql,
    DELIVERY_LISTINGS[kind],
    {
      columns: columns(sql),
      from: sql`deliveries`,
      where: sql`kind = ${kind}`,
      ...(before !== null && { beginning: older }),
    },
    request,
  )
}

/** Returns the ids of all deliveries of a kind that match a list request. */
export function findDeliveryIds(sql: Queryable, kind: DeliveryKind, request: ListRequest, most: number): Promise<Keys> {
  const selection = { columns: sql`id AS key`, from: sql`deliveries`, where: sql`kind = ${kind}` }
  return readKeys(sql, DELIVERY_LISTINGS[kind], selection, request, most)
}

/**
 * Retries a delivery by hand. A finished delivery starts again, with its attempts at zero. A pending one becomes due at once, and one with an
 * attempt in progress continues. Returns null if it does not exist.
 */
export async function retryDelivery(tx: Transaction, kind: DeliveryKind, id: string): Promise<Delivery | null> {
  const [row] = await tx<Delivery[]>`
    UPDATE deliveries SET
      status = CASE WHEN due_at IS NULL THEN 'pending' ELSE status END,
      attempts = CASE WHEN due_at IS NULL THEN 0 ELSE attempts END,
      message = CASE WHEN due_at IS NULL THEN '' ELSE message END,
      message_coded = CASE WHEN due_at IS NOT NULL THEN message_coded END,
      acknowledged_at = NULL, due_at = now(), updated_at = now()
    WHERE id = ${id} AND kind = ${kind}
    RETURNING ${columns(tx)}`
  await wakeRunners(tx)
  return row ?? null
}

/**
 * Ends a pending delivery as failed, with the message `said`. An attempt in progress loses its lease, so it is aborted, changes nothing more, and is
 * recorded as interrupted. The failure counts as acknowledged. Returns null if the delivery is not pending.
 */
export async function cancelDelivery(
  tx: Transaction,
  kind: DeliveryKind,
  id: string,
  said: CodedMessage,
): Promise<Delivery | null> {
  const message = textOf(said)
  const [row] = await tx<Delivery[]>`
    WITH open AS (
      SELECT id, lease_owner, leased_at FROM deliveries WHERE id = ${id} AND kind = ${kind} AND due_at IS NOT NULL FOR UPDATE
    ), interrupted AS (
      INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, message, message_coded)
      SELECT id, leased_at, greatest(0, 1000 * extract(epoch FROM clock_timestamp() - leased_at)), 'interrupted', ${message}, ${tx.json(said)}
      FROM open WHERE lease_owner IS NOT NULL
    )
    UPDATE deliveries SET status = 'failed', message = ${message}, message_coded = ${tx.json(said)}, due_at = NULL, acknowledged_at = now(), updated_at = now(),
      lease_owner = NULL, leased_at = NULL, lease_until = NULL, fence = fence + 1
    WHERE id IN (SELECT id FROM open) RETURNING ${columns(tx)}`
  return row ?? null
}

/** Records that somebody has seen a failure. A second call keeps the first time. Returns null if there is no such failed delivery. */
export async function acknowledgeDelivery(tx: Transaction, kind: DeliveryKind, id: string): Promise<Delivery | null> {
  const [row] = await tx<Delivery[]>`
    UPDATE deliveries SET acknowledged_at = coalesce(acknowledged_at, now())
    WHERE id = ${id} AND kind = ${kind} AND status = 'failed' RETURNING ${columns(tx)}`
  return row ?? null
}

function wakeRunners(tx: Transaction): Promise<unknown> {
  return tx`SELECT pg_notify(${DELIVERIES_CHANNEL}, '')`
}

function columns(sql: Queryable) {
  return sql`
    id, kind, status, attempts, message, message_coded AS "messageCoded", target_code AS "targetCode", basemap_code AS "basemapCode", version,
    vector_code AS "vectorCode", job_id AS "jobId", export_id AS "exportId", CASE WHEN kind IN ('event', 'notification') THEN body->>'event' END AS event,
    CASE WHEN kind = 'notification' THEN body->>'subject' END AS subject, url, due_at AS "dueAt", created_at AS "createdAt", updated_at AS "updatedAt",
    acknowledged_at AS "acknowledgedAt",
    (SELECT jsonb_build_object('bounds', bounds, 'zoom_min', zoom_min, 'zoom_max', zoom_max)
     FROM exports WHERE exports.id = deliveries.export_id) AS export`
}
