import { type CodedMessage, coded, type StoredMessage, storedMessage, textOf } from '@gateway/contracts/messages.js'
import type { DatabaseConnection, PostgisChoice } from '@gateway/contracts/postgis.js'
import { POSTGIS_DEFAULTS } from '@gateway/contracts/postgis.js'
import type { Scan, ScanReason, ScanSchedule, ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { ServiceChoice, UpstreamState } from '@gateway/contracts/service.js'
import type { NewChange } from './change-log.js'
import type { Queryable, Transaction } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'
import { isoDates } from './sql.js'

type ScanRow = { readonly [K in keyof Scan]: unknown }
type SourceRow = Omit<ScanSource, 'last_scan' | 'queued_at' | 'next_scan_at'> & {
  readonly choice: PostgisChoice | ServiceChoice | null
  readonly has_headers: boolean
  readonly queued_at: Date | null
  readonly wanted_at: Date | null
} & ScanRow

function scanColumns(sql: Queryable, table: 'scans' | 'last') {
  const of = sql(table)
  return sql`
    ${of}.id, ${of}.status, ${of}.reason, ${of}.changed, ${of}.next_scan_at, ${of}.started_at, ${of}.finished_at, ${of}.added, ${of}.updated, ${of}.missing, ${of}.message,
    ${of}.message_coded->>'code' AS message_code, ${of}.message_coded->'params' AS message_params,
    ${of}.warning_count AS warnings, ${of}.steps, ${of}.cancelled_by IS NOT NULL AS cancelled`
}

/** Reads scan sources ordered by code, each with its last scan; `code` null: all of them. */
export async function readScanSources(sql: Queryable, code: string | null = null): Promise<ScanSource[]> {
  const { columns, from } = sources(sql)
  const rows = await sql<SourceRow[]>`
    SELECT ${columns} FROM ${from} WHERE ${code}::text IS NULL OR s.code = ${code} ORDER BY s.code COLLATE "C"`
  return rows.map(toScanSource)
}

export const SCAN_SOURCE_LISTING = {
  searched: { code: 's.code', name: 's.name', path: 's.path' },
  sortable: {
    code: 's.code COLLATE "C"',
    name: 'lower(s.name)',
    kind: 's.kind',
    path: 's.path',
    enabled: 's.enabled',
    last_scan: 'last.started_at',
  },
  nullable: ['last_scan'],
  order: 'code',
  key: 's.code COLLATE "C"',
  filters: { kind: 's.kind = $', enabled: 's.enabled = $', status: 'last.status = $' },
} satisfies Listing

export async function listScanSources(sql: Queryable, request: ListRequest): Promise<Listed<ScanSource>> {
  const { items, total } = await readList<SourceRow>(sql, SCAN_SOURCE_LISTING, sources(sql), request)
  return { items: items.map(toScanSource), total }
}

function sources(sql: Queryable) {
  return {
    columns: sql`
      s.code, s.name, s.kind, s.path, s.password IS NOT NULL AS has_password, s.kind = 'service' AND s.password::jsonb->'headers' <> '{}' AS has_headers, s.choice, s.enabled, s.publish, s.schedule, s.watch,
      CASE WHEN s.enabled THEN s.next_scan_at END AS wanted_at, CASE WHEN s.enabled AND s.watch THEN s.watch_problem END AS watch_problem, queue.queued_at, ${scanColumns(sql, 'last')}`,
    from: sql`
      scan_sources s
      LEFT JOIN LATERAL (SELECT * FROM scans WHERE source_code = s.code ORDER BY started_at DESC LIMIT 1) last ON true
      LEFT JOIN scan_queue queue ON queue.source_code = s.code`,
  }
}

function toScanSource({ code, name, kind, path, enabled, queued_at, wanted_at, ...more }: SourceRow): ScanSource {
  const { publish, schedule, watch, watch_problem, has_password, has_headers, choice, ...scan } = more
  const last_scan = scan.status === null ? null : isoDates<Scan>(scan)
  const next_scan_at = wanted_at?.toISOString() ?? null
  const automatic = { publish, schedule, next_scan_at, watch, watch_problem }
  const ofDatabase =
    kind === 'postgis'
      ? { has_password: has_password === true, ...(choice as PostgisChoice) }
      : kind === 'service'
        ? { has_headers: has_headers === true, ...(choice as ServiceChoice) }
        : {}
  return {
    code,
    name,
    kind,
    path,
    ...ofDatabase,
    enabled,
    ...automatic,
    last_scan,
    queued_at: queued_at?.toISOString() ?? null,
  }
}

export interface NewScanSource {
  readonly code: string
  readonly kind: SourceKind
  readonly path: string
  /** undefined keeps the name of a known source; a new one is named by its code */
  readonly name: string | undefined
  /** undefined keeps the state of a known source, and enables a new one */
  readonly enabled: boolean | undefined
  /** undefined keeps the mode of a known source; a new one is `automatic` */
  readonly publish?: ScanSource['publish'] | undefined
  /** undefined keeps the values of a known source; a new one is neither scheduled nor watched */
  readonly schedule?: ScanSchedule | null | undefined
  readonly watch?: boolean | undefined
  /** time of the next scan by the schedule, if the schedule is given */
  readonly nextScanAt?: Date | null
  /** of a database: undefined keeps the password of a known source, unless its address changes */
  readonly password?: string | undefined
  /** of a database: what is published */
  readonly choice?: PostgisChoice | ServiceChoice | undefined
}

/**
 * Creates or updates a source. The kind of a known source cannot change, since its items would be orphaned. Returns null in that case, and if
 * the code exists and the call is `createsOnly`.
 */
export async function upsertScanSource(
  tx: Transaction,
  source: NewScanSource,
  createsOnly = false,
): Promise<{ code: string } | null> {
  const schedule = source.schedule === undefined || source.schedule === null ? null : tx.json(source.schedule)
  const [row] = await tx<{ code: string }[]>`
    INSERT INTO scan_sources (code, name, kind, path, enabled, publish, schedule, next_scan_at, watch, password, choice)
    VALUES (${source.code}, ${source.name ?? source.code}, ${source.kind}, ${source.path}, ${source.enabled ?? true},
            ${source.publish ?? 'automatic'}, ${schedule}, ${source.nextScanAt ?? null}, ${source.watch ?? false}, ${source.password ?? null},
            ${source.choice === undefined ? null : tx.json(source.choice as never)})
    ON CONFLICT (code) DO UPDATE SET
      name = coalesce(${source.name ?? null}, scan_sources.name), path = excluded.path,
      enabled = coalesce(${source.enabled ?? null}, scan_sources.enabled),
      publish = coalesce(${source.publish ?? null}, scan_sources.publish),
      watch = coalesce(${source.watch ?? null}, scan_sources.watch),
      password = CASE WHEN excluded.kind = 'service' AND scan_sources.path = excluded.path THEN (coalesce(scan_sources.password, '{}')::jsonb || excluded.password::jsonb)::text
                      WHEN excluded.password IS NULL AND scan_sources.path = excluded.path THEN scan_sources.password ELSE excluded.password END, choice = CASE WHEN excluded.kind = 'service' THEN coalesce(scan_sources.choice, '{}') || coalesce(excluded.choice, '{}') ELSE coalesce(scan_sources.choice || excluded.choice, excluded.choice) END,
      watch_problem = CASE WHEN scan_sources.path = excluded.path THEN scan_sources.watch_problem END,
      next_scan_at = CASE WHEN ${source.schedule === undefined} OR scan_sources.schedule = excluded.schedule THEN scan_sources.next_scan_at ELSE excluded.next_scan_at END,
      schedule = CASE WHEN ${source.schedule === undefined} THEN scan_sources.schedule ELSE excluded.schedule END, updated_at = now()
    WHERE scan_sources.kind = excluded.kind AND NOT ${createsOnly}::boolean
    RETURNING code`
  return row ?? null
}

/** Secrets of a service, and what of it is taken. They must not be returned or logged. null: there is no such source. */
export async function readServiceSource(sql: Queryable, code: string): Promise<ServiceSource | null> {
  const [row] = await sql<{ path: string; password: string | null; choice: ServiceChoice | null }[]>`
    SELECT path, password, choice FROM scan_sources WHERE code = ${code} AND kind = 'service'`
  if (row === undefined) return null
  const { headers = {}, query = '' } = row.password === null ? {} : (JSON.parse(row.password) as Partial<ServiceSource>)
  return { path: row.path, headers, query, choice: row.choice ?? {} }
}

export interface ServiceSource {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** of the address, without `?` */
  readonly query: string
  readonly choice: ServiceChoice
}

/** Stores what the requests to a service have met. A source that is gone stores nothing. */
export async function noteUpstreamState(
  sql: Queryable,
  code: string,
  { state, failures, message }: UpstreamState,
): Promise<void> {
  await sql`
    INSERT INTO upstream_states (source_code, state, failures, message)
    SELECT code, ${state}, ${failures}, ${message} FROM scan_sources WHERE code = ${code}
    ON CONFLICT (source_code) DO UPDATE SET
      state = excluded.state, failures = excluded.failures, message = excluded.message, changed_at = now()
    WHERE (upstream_states.state, upstream_states.failures, upstream_states.message) <> (excluded.state, excluded.failures, excluded.message)`
}

/** How to reach the database of a source, and what of it is published. The password must not be returned or logged. null: there is no such source. */
export async function readDatabaseSource(
  sql: Queryable,
  code: string,
): Promise<{ readonly connection: DatabaseConnection; readonly choice: PostgisChoice } | null> {
  const [row] = await sql<{ url: string; password: string | null; choice: PostgisChoice | null }[]>`
    SELECT path AS url, password, choice FROM scan_sources WHERE code = ${code} AND kind = 'postgis'`
  if (row === undefined) return null
  const { url, password, choice } = row
  const pool = choice?.options?.pool ?? POSTGIS_DEFAULTS.pool
  return { connection: { source: code, url, password, pool }, choice: choice ?? {} }
}

/** Returns the entries for the change log if everything of a source has changed. */
export async function changesOfSource(tx: Transaction, code: string): Promise<NewChange[]> {
  return tx<NewChange[]>`
    SELECT 'basemap' AS kind, code AS key FROM basemaps WHERE source_code = ${code}
    UNION ALL SELECT 'vector', code FROM vectors WHERE source_code = ${code}
    UNION ALL SELECT 'style', code FROM styles WHERE source_code = ${code}
    UNION ALL SELECT 'font', '' WHERE EXISTS (SELECT FROM style_fonts WHERE source_code = ${code})`
}

/** Deletes a source with all its items and scans. The caller holds the scan lock. Returns false if it did not exist. */
export async function deleteScanSource(tx: Transaction, code: string): Promise<boolean> {
  await tx`DELETE FROM basemaps WHERE source_code = ${code}`
  await tx`DELETE FROM vectors WHERE source_code = ${code}`
  await tx`DELETE FROM styles WHERE source_code = ${code}`
  const { count } = await tx`DELETE FROM scan_sources WHERE code = ${code}`
  return count > 0
}

/** `startedAt` is a time of the store's clock, like the times that a scan is compared with. */
export async function startScan(
  sql: Queryable,
  sourceCode: string,
  reason: ScanReason = 'manual',
  changed: readonly string[] | null = null,
): Promise<{ id: string; startedAt: Date }> {
  const [row] = await sql<{ id: string; startedAt: Date }[]>`
    INSERT INTO scans (source_code, status, reason, changed, next_scan_at)
    VALUES (${sourceCode}, 'running', ${reason}, ${changed as string[] | null}::text[], (SELECT next_scan_at FROM scan_sources WHERE code = ${sourceCode})) RETURNING id, started_at AS "startedAt"`
  return row as { id: string; startedAt: Date }
}

export interface ScanOutcome {
  readonly status: 'succeeded' | 'failed'
  readonly added: number
  readonly updated: number
  readonly missing: number
  /** null: no message */
  readonly said: CodedMessage | null
  /** first warnings about skipped or doubtful items, and the total number */
  readonly warnings?: {
    readonly texts: readonly string[]
    readonly coded: readonly (CodedMessage | null)[]
    readonly total: number
  }
}

export async function finishScan(sql: Queryable, id: string, outcome: ScanOutcome): Promise<Scan> {
  const { said } = outcome
  const [row] = await sql<ScanRow[]>`
    UPDATE scans SET status = ${outcome.status}, finished_at = clock_timestamp(), added = ${outcome.added}, updated = ${outcome.updated},
                     missing = ${outcome.missing}, message = ${said === null ? '' : textOf(said)},
                     message_coded = ${said === null ? null : sql.json(said)}, warnings = ${[...(outcome.warnings?.texts ?? [])]}::text[],
                     warning_codes = ${sql.json([...(outcome.warnings?.coded ?? [])])}, warning_count = ${outcome.warnings?.total ?? 0}
    WHERE id = ${id}
    RETURNING ${scanColumns(sql, 'scans')}`
  return isoDates<Scan>(row as ScanRow)
}

/** Stores the progress of a scan. Returns the name of the operator who cancelled it, or null. */
export async function renewScan(sql: Queryable, id: string, steps: number): Promise<string | null> {
  const [row] = await sql<{ cancelled_by: string | null }[]>`
    UPDATE scans SET steps = ${steps} WHERE id = ${id} RETURNING cancelled_by`
  return row?.cancelled_by ?? null
}

/**
 * Queues a scan of a source. A scan that already waits keeps its place, and covers the paths of both.
 * @param changed paths below the source to scan; null for everything
 */
export async function queueScan(
  sql: Queryable,
  sourceCode: string,
  reason: ScanReason = 'manual',
  changed: readonly string[] | null = null,
): Promise<void> {
  await sql`
    INSERT INTO scan_queue AS queue (source_code, reason, changed)
    SELECT code, ${reason}, ${changed as string[] | null}::text[] FROM scan_sources WHERE code = ${sourceCode}
    ON CONFLICT (source_code) DO UPDATE SET
      reason = CASE WHEN excluded.changed IS NULL THEN excluded.reason ELSE queue.reason END,
      changed = CASE WHEN excluded.changed IS NULL THEN NULL ELSE ARRAY(SELECT unnest(queue.changed) UNION SELECT unnest(excluded.changed)) END
    WHERE queue.changed IS NOT NULL`
}

export interface SourceSchedule {
  readonly code: string
  readonly schedule: ScanSchedule
  /** null: not known yet, or the schedule has no further scan */
  readonly nextScanAt: Date | null
}

/** Returns the schedules of enabled sources. */
export async function readSchedules(sql: Queryable): Promise<SourceSchedule[]> {
  return sql<SourceSchedule[]>`
    SELECT code, schedule, next_scan_at AS "nextScanAt" FROM scan_sources WHERE enabled AND schedule IS NOT NULL`
}

/** Stores the time of a schedule's next scan. Returns false if another process did so, or the source has changed. */
export async function moveSchedule(
  tx: Transaction,
  code: string,
  from: Date | null,
  to: Date | null,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE scan_sources SET next_scan_at = ${to}
    WHERE code = ${code} AND enabled AND schedule IS NOT NULL AND next_scan_at IS NOT DISTINCT FROM ${from}::timestamptz`
  return count > 0
}

/** Returns enabled sources whose local folders are to be watched. */
export async function readWatchedSources(sql: Queryable): Promise<Pick<ScanSource, 'code' | 'kind' | 'path'>[]> {
  return sql<Pick<ScanSource, 'code' | 'kind' | 'path'>[]>`
    SELECT code, kind, path FROM scan_sources WHERE enabled AND watch AND starts_with(path, '/') ORDER BY code`
}

/** Stores the reason why a source cannot be watched; null: it is watched. */
export async function noteWatchProblem(sql: Queryable, code: string, problem: string | null): Promise<void> {
  await sql`
    UPDATE scan_sources SET watch_problem = ${problem} WHERE code = ${code} AND watch_problem IS DISTINCT FROM ${problem}`
}

export async function isScanQueued(sql: Queryable): Promise<boolean> {
  const rows = await sql`SELECT FROM scan_queue LIMIT 1`
  return rows.length > 0
}

export interface QueuedScan {
  readonly code: string
  readonly reason: ScanReason
  /** paths below the source to scan; null for everything */
  readonly changed: readonly string[] | null
}

/** Removes the source that has waited longest from the queue, and returns its code. The caller holds the scan lock. */
export async function takeQueuedScan(sql: Queryable): Promise<QueuedScan | null> {
  const [row] = await sql<QueuedScan[]>`
    DELETE FROM scan_queue WHERE source_code = (SELECT source_code FROM scan_queue ORDER BY queued_at, source_code LIMIT 1)
    RETURNING source_code AS code, reason, changed`
  return row ?? null
}

/** Removes a waiting scan of a source from the queue, and requests the end of a running one. Returns false if there is neither. */
export async function cancelScans(tx: Transaction, sourceCode: string, actor: string): Promise<boolean> {
  const queued = await tx`DELETE FROM scan_queue WHERE source_code = ${sourceCode} RETURNING 1`
  const running = await tx`
    UPDATE scans SET cancelled_by = coalesce(cancelled_by, ${actor}) WHERE source_code = ${sourceCode} AND status = 'running'
    RETURNING 1`
  return queued.length + running.length > 0
}

/** Returns the warnings of a scan, in order; null if the source has no such scan. */
export async function readScanWarnings(
  sql: Queryable,
  sourceCode: string,
  id: string,
): Promise<StoredMessage[] | null> {
  const [row] = await sql<{ warnings: string[]; codes: (CodedMessage | null)[] }[]>`
    SELECT warnings, warning_codes AS codes FROM scans WHERE source_code = ${sourceCode} AND id = ${id}`
  return row?.warnings.map((text, i) => storedMessage(text, row.codes[i])) ?? null
}

const STOPPED = coded('scan_stopped')

/**
 * Fails the scans that a process left `running` when it died. The caller holds the scan lock, so these scans cannot be alive. Changes are reported
 * only once, so the next scan covers the whole source.
 */
export async function failAbandonedScans(sql: Queryable): Promise<void> {
  const left = await sql<{ code: string; reason: ScanReason; changed: string[] | null }[]>`
    UPDATE scans SET status = 'failed', finished_at = now(), message = ${textOf(STOPPED)}, message_coded = ${sql.json(STOPPED)}
    WHERE status = 'running' RETURNING source_code AS code, reason, changed`
  for (const { code, reason, changed } of left) if (changed !== null) await queueScan(sql, code, reason)
}

/** Returns the scans of a source, newest first. */
export async function readScans(sql: Queryable, sourceCode: string): Promise<Scan[]> {
  const rows = await sql<ScanRow[]>`
    SELECT ${scanColumns(sql, 'scans')} FROM scans
    WHERE source_code = ${sourceCode} ORDER BY started_at DESC LIMIT ${KEPT_SCANS}`
  return rows.map((row) => isoDates<Scan>(row))
}

/** Returns the store's time, to the microsecond, for `scannedSince`. */
export async function storeTime(sql: Queryable): Promise<string> {
  const [row] = await sql<{ now: string }[]>`SELECT clock_timestamp()::text AS now`
  return (row as { now: string }).now
}

/** Returns the codes of sources with a scan that runs, or has ended after a time of the store's clock. */
export async function scannedSince(sql: Queryable, moment: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ source_code: string }[]>`
    SELECT DISTINCT source_code FROM scans WHERE status = 'running' OR finished_at > ${moment}::text::timestamptz`
  return new Set(rows.map((row) => row.source_code))
}

/** Number of scans of each source that are kept. */
const KEPT_SCANS = 50

export async function pruneScans(sql: Queryable, sourceCode: string): Promise<void> {
  await sql`
    DELETE FROM scans WHERE id IN (
      SELECT id FROM scans WHERE source_code = ${sourceCode} ORDER BY started_at DESC OFFSET ${KEPT_SCANS})`
}
