import type { Scan, ScanSource, ScanStatus, SourceKind } from '@gateway/contracts/scan-source.js'
import type { Queryable, Transaction } from './connect.js'

interface SourceRow {
  code: string
  name: string
  kind: SourceKind
  path: string
  enabled: boolean
  status: ScanStatus | null
  started_at: Date | null
  finished_at: Date | null
  added: number
  updated: number
  missing: number
  message: string
}

/** Scan sources ordered by code, each with its last scan; `code` null reads all of them. */
export async function readScanSources(sql: Queryable, code: string | null = null): Promise<ScanSource[]> {
  const rows = await sql<SourceRow[]>`
    SELECT s.code, s.name, s.kind, s.path, s.enabled, last.status, last.started_at, last.finished_at, last.added, last.updated,
           last.missing, last.message
    FROM scan_sources s
    LEFT JOIN LATERAL (SELECT * FROM scans WHERE source_code = s.code ORDER BY started_at DESC LIMIT 1) last ON true
    WHERE ${code}::text IS NULL OR s.code = ${code}
    ORDER BY s.code COLLATE "C"`
  return rows.map((row) => ({
    code: row.code,
    name: row.name,
    kind: row.kind,
    path: row.path,
    enabled: row.enabled,
    last_scan: toScan(row),
  }))
}

export interface NewScanSource {
  readonly code: string
  readonly kind: SourceKind
  readonly path: string
  /** undefined keeps the name of a known source and takes the code for a new one */
  readonly name: string | undefined
  /** undefined keeps a known source as it is and enables a new one */
  readonly enabled: boolean | undefined
}

/** The kind of a known source cannot change, since what was found in it would be orphaned: null then. */
export async function upsertScanSource(tx: Transaction, source: NewScanSource): Promise<{ code: string } | null> {
  const [row] = await tx<{ code: string }[]>`
    INSERT INTO scan_sources (code, name, kind, path, enabled)
    VALUES (${source.code}, ${source.name ?? source.code}, ${source.kind}, ${source.path}, ${source.enabled ?? true})
    ON CONFLICT (code) DO UPDATE SET
      name = coalesce(${source.name ?? null}, scan_sources.name), path = excluded.path,
      enabled = coalesce(${source.enabled ?? null}, scan_sources.enabled), updated_at = now()
    WHERE scan_sources.kind = excluded.kind
    RETURNING code`
  return row ?? null
}

/** `startedAt` is by the store's clock, as are the times of everything that a scan is compared with. */
export async function startScan(sql: Queryable, sourceCode: string): Promise<{ id: string; startedAt: Date }> {
  const [row] = await sql<{ id: string; startedAt: Date }[]>`
    INSERT INTO scans (source_code, status) VALUES (${sourceCode}, 'running') RETURNING id, started_at AS "startedAt"`
  return row as { id: string; startedAt: Date }
}

export interface ScanOutcome {
  readonly status: 'succeeded' | 'failed'
  readonly added: number
  readonly updated: number
  readonly missing: number
  readonly message: string
}

export async function finishScan(sql: Queryable, id: string, outcome: ScanOutcome): Promise<Scan> {
  const [row] = await sql<SourceRow[]>`
    UPDATE scans SET status = ${outcome.status}, finished_at = clock_timestamp(), added = ${outcome.added}, updated = ${outcome.updated},
                     missing = ${outcome.missing}, message = ${outcome.message}
    WHERE id = ${id}
    RETURNING status, started_at, finished_at, added, updated, missing, message`
  return toScan(row as SourceRow) as Scan
}

/** Scans that a process left `running` when it died; called by whoever holds the scan lock, so that none of them can be alive. */
export async function failAbandonedScans(sql: Queryable): Promise<void> {
  await sql`
    UPDATE scans SET status = 'failed', finished_at = now(), message = 'the control plane stopped during this scan'
    WHERE status = 'running'`
}

/** The scans of a source, newest first. */
export async function readScans(sql: Queryable, sourceCode: string): Promise<Scan[]> {
  const rows = await sql<SourceRow[]>`
    SELECT status, started_at, finished_at, added, updated, missing, message FROM scans
    WHERE source_code = ${sourceCode} ORDER BY started_at DESC LIMIT ${KEPT_SCANS}`
  return rows.flatMap((row) => toScan(row) ?? [])
}

/** The store's clock, to the microsecond, for `scannedSince`. */
export async function storeTime(sql: Queryable): Promise<string> {
  const [row] = await sql<{ now: string }[]>`SELECT clock_timestamp()::text AS now`
  return (row as { now: string }).now
}

/** The codes of sources of which a scan is running, or has ended after that moment of the store's clock. */
export async function scannedSince(sql: Queryable, moment: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ source_code: string }[]>`
    SELECT DISTINCT source_code FROM scans WHERE status = 'running' OR finished_at > ${moment}::text::timestamptz`
  return new Set(rows.map((row) => row.source_code))
}

/** How many scans of each source stay listed. */
const KEPT_SCANS = 50

export async function pruneScans(sql: Queryable, sourceCode: string): Promise<void> {
  await sql`
    DELETE FROM scans WHERE id IN (
      SELECT id FROM scans WHERE source_code = ${sourceCode} ORDER BY started_at DESC OFFSET ${KEPT_SCANS})`
}

function toScan(row: SourceRow): Scan | null {
  if (row.status === null || row.started_at === null) return null
  return {
    status: row.status,
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    added: row.added,
    updated: row.updated,
    missing: row.missing,
    message: row.message,
  }
}
