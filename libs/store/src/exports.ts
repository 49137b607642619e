import type { Bounds } from '@gateway/contracts/basemap.js'
import type { EXPORT_STATUSES, ExportFormat } from '@gateway/contracts/export.js'
import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { Queryable, Sql, Transaction } from './connect.js'
import { claimQueuedJob, failedBy, finishJob, type JobLease } from './jobs.js'
import { type KeptTrace, traceColumn } from './kept-trace.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'

export interface StoredExport {
  readonly id: string
  readonly basemapCode: string
  readonly version: string
  /** older version of a delta; null: the export is a whole version */
  readonly fromVersion: string | null
  /** format of the archive */
  readonly format: ExportFormat
  /** null: the whole extent of the version */
  readonly bounds: Bounds | null
  readonly zoomMin: number
  readonly zoomMax: number
  readonly targetCode: string | null
  /** version of the same basemap as which its tiles are served */
  readonly publishAs: string | null
  /** delivery to the target */
  readonly pushId: string | null
  readonly status: (typeof EXPORT_STATUSES)[number]
  readonly message: string
  readonly messageCoded: CodedMessage | null
  /** 0 to 100 */
  readonly progress: number
  readonly tiles: number | null
  readonly bytes: number | null
  readonly requestedBy: string
  readonly createdAt: Date
  readonly finishedAt: Date | null
  /** trace of its request; null: each run starts one */
  readonly trace: KeptTrace | null
}

/** Channel that tells every runner that an export was requested. */
export const EXPORTS_CHANNEL = 'gateway_exports'

/** Maximum number of exports that have not ended. */
export const MAX_OPEN_EXPORTS = 100

export type NewExport = Pick<
  StoredExport,
  | 'basemapCode'
  | 'version'
  | 'fromVersion'
  | 'format'
  | 'bounds'
  | 'zoomMin'
  | 'zoomMax'
  | 'targetCode'
  | 'publishAs'
  | 'requestedBy'
  | 'trace'
>

/** Returns null if the maximum number of exports is waiting. */
export async function insertExport(tx: Transaction, wanted: NewExport): Promise<StoredExport | null> {
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO exports (basemap_code, version, from_version, format, bounds, zoom_min, zoom_max, target_code, publish_as, requested_by, trace)
    SELECT ${wanted.basemapCode}, ${wanted.version}, ${wanted.fromVersion}, ${wanted.format}, ${wanted.bounds as number[] | null}::float8[], ${wanted.zoomMin}::int,
           ${wanted.zoomMax}::int, ${wanted.targetCode}, ${wanted.publishAs}, ${wanted.requestedBy}, ${traceColumn(tx, wanted.trace)}
    WHERE (SELECT count(*) FROM exports WHERE status IN ('pending', 'running')) < ${MAX_OPEN_EXPORTS}
    RETURNING id`
  if (row === undefined) return null
  await tx`SELECT pg_notify(${EXPORTS_CHANNEL}, '')`
  return readExport(tx, row.id)
}

export async function readExport(sql: Queryable, id: string): Promise<StoredExport | null> {
  const [row] = await sql<StoredExport[]>`SELECT ${columns(sql)} FROM exports WHERE id = ${id}`
  return row ?? null
}

export const EXPORT_LISTING = {
  searched: { basemap: 'basemap_code', version: 'version', target: 'target_code' },
  sortable: {
    created_at: 'created_at',
    finished_at: 'finished_at',
    status: 'status',
    basemap_code: 'basemap_code',
    version: 'version',
    target_code: 'target_code',
    requested_by: 'requested_by',
    progress: 'progress',
    tiles: 'tiles',
    bytes: 'bytes',
  },
  nullable: ['finished_at', 'target_code', 'tiles', 'bytes'],
  order: '-created_at',
  key: 'id',
  filters: {
    status: 'status = $',
    basemap_code: 'basemap_code = $',
    version: 'version = $',
    target_code: 'target_code = $',
  },
} satisfies Listing

export function listExports(sql: Queryable, request: ListRequest): Promise<Listed<StoredExport>> {
  return readList<StoredExport>(sql, EXPORT_LISTING, { columns: columns(sql), from: sql`exports` }, request)
}

/** PMTiles archives of a basemap that are written, newest first: of whole versions, in all of their zooms, and their deltas. */
export function readWholeArchives(sql: Queryable, basemapCode: string, limit: number): Promise<StoredExport[]> {
  return sql<StoredExport[]>`
    SELECT ${columns(sql)} FROM exports
    LEFT JOIN basemap_versions newer ON newer.basemap_code = exports.basemap_code AND newer.version = exports.version
    WHERE exports.basemap_code = ${basemapCode} AND exports.status = 'succeeded' AND exports.format = 'pmtiles' AND exports.bounds IS NULL
      AND zoom_min <= newer.min_zoom AND zoom_max >= newer.max_zoom
    ORDER BY exports.created_at DESC, exports.id DESC LIMIT ${limit}`
}

/** True if an export that has not ended will be published as this version. */
export async function willBePublished(sql: Queryable, basemapCode: string, version: string): Promise<boolean> {
  const rows = await sql`
    SELECT FROM exports WHERE status IN ('pending', 'running') AND basemap_code = ${basemapCode} AND publish_as = ${version}`
  return rows.length > 0
}

/** Deletes an export in any state. A process that writes it loses its lease, and a pending delivery of it fails. Returns false if it did not exist. */
export async function deleteExport(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM exports WHERE id = ${id}`
  return count > 0
}

/** Returns the total bytes of all kept archives. */
export async function bytesOfExports(sql: Queryable): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM exports`
  return row?.bytes ?? 0
}

export interface ClaimedExport {
  readonly wanted: StoredExport
  readonly lease: JobLease
}

/** Claims the oldest unfinished export (`claimQueuedJob`). Returns null if every export is finished, or another process writes one. */
export async function claimExport(sql: Sql, owner: string, leaseSeconds: number): Promise<ClaimedExport | null> {
  const lease = await claimQueuedJob(sql, 'exports', owner, leaseSeconds)
  const wanted = lease && (await readExport(sql, lease.id))
  return lease && wanted && { wanted, lease }
}

export type ExportEnd = { readonly tiles: number; readonly bytes: number } | { readonly failed: CodedMessage }

/** Ends an export. Returns null, without writing, if the lease is lost or the export was removed. */
export async function finishExport(tx: Transaction, lease: JobLease, end: ExportEnd): Promise<StoredExport | null> {
  if (!(await finishJob(tx, lease, 'failed' in end ? failedBy(end.failed) : 'succeeded'))) return null
  if (!('failed' in end)) await tx`UPDATE exports SET tiles = ${end.tiles}, bytes = ${end.bytes} WHERE id = ${lease.id}`
  return readExport(tx, lease.id)
}

/** Deletes exports that ended so long ago, except those with a pending delivery. */
export async function pruneExports(sql: Sql, days: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM exports
    WHERE finished_at < now() - make_interval(days => ${days})
      AND NOT EXISTS (SELECT FROM deliveries WHERE export_id = exports.id AND due_at IS NOT NULL)`
  return count
}

/** Returns those ids that belong to exports. */
export async function knownExports(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`SELECT id FROM exports WHERE id = ANY(${ids as string[]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

function columns(sql: Queryable) {
  return sql`
    exports.id, exports.basemap_code AS "basemapCode", exports.version, from_version AS "fromVersion", exports.format, exports.bounds, zoom_min AS "zoomMin", zoom_max AS "zoomMax",
    exports.target_code AS "targetCode", publish_as AS "publishAs", exports.status, exports.message, exports.message_coded AS "messageCoded", progress, tiles::float8 AS tiles, bytes::float8 AS bytes,
    requested_by AS "requestedBy", exports.created_at AS "createdAt", finished_at AS "finishedAt", exports.trace,
    (SELECT id FROM deliveries WHERE export_id = exports.id ORDER BY deliveries.created_at DESC LIMIT 1) AS "pushId"`
}
