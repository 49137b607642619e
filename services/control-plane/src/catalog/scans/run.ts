import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Refusal } from '@gateway/contracts/errors.js'
import { CodedError, type CodedMessage, coded, messageOfError, textOf } from '@gateway/contracts/messages.js'
import type { PostgisChoice } from '@gateway/contracts/postgis.js'
import type { Scan, ScanReason, ScanSource } from '@gateway/contracts/scan-source.js'
import type { ServiceChoice } from '@gateway/contracts/service.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { logChanges } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { JobLease } from '@gateway/store/jobs.js'
import { causeDeliveries } from '@gateway/store/kept-trace.js'
import { failAbandonedScans, finishScan, pruneScans, renewScan, startScan } from '@gateway/store/scan-sources.js'
import { readKnownFiles } from '@gateway/store/vectors.js'
import { writeUnderLease } from '../../jobs/exclusively.js'
import { recordEnd } from '../../jobs/leases.js'
import { LeaseLost, type RunningJob } from '../../jobs/running-job.js'
import type { ControlContext } from '../../platform/context.js'
import { edgesFollow, publishChanges } from '../../platform/edges/commit.js'
import { currentTrace, traced, traceToKeep } from '../../platform/trace.js'
import { type Applied, applyBasemaps, applyVectors, type ScanOf } from './apply.js'
import { applyStyles } from './apply-styles.js'
import { withScanLock } from './scan-lock.js'
import { scratchFolder } from './scratch-folder.js'
import { withoutExtension } from './walk/changed-vectors.js'
import type { Warnings } from './walk/found.js'
import { WalkError, walk } from './walk/walk.js'
import type { Found } from './walk/walk-process.js'

export type ScanRun = { readonly ok: true; readonly scan: Scan } | Refusal
export type ScanRuns = { readonly ok: true; readonly scans: readonly Scan[] } | Refusal

/** `password` and `choice`: of a database or a service that is tried; the stored ones apply to others */
export type ScannedSource = Pick<ScanSource, 'code' | 'kind' | 'path'> & {
  readonly password?: string | undefined
  readonly choice?: PostgisChoice | ServiceChoice | undefined
}

/** `runScans` for one source. */
export async function runScan(
  ctx: ControlContext,
  source: ScannedSource,
  reason: ScanReason = 'manual',
): Promise<ScanRun> {
  const run = await runScans(ctx, [source], reason)
  return run.ok ? { ok: true, scan: run.scans[0] as Scan } : run
}

/**
 * Scans sources one after the other. Only one scan runs at a time in the whole cluster; refused during another one. A failed scan is returned like
 * others, and changes nothing. Rejects if the store is out of reach.
 */
export function runScans(
  ctx: ControlContext,
  sources: readonly ScannedSource[],
  reason: ScanReason = 'manual',
): Promise<ScanRuns> {
  return withScanLock(ctx, async (scanning): Promise<ScanRuns> => {
    await failAbandonedScans(ctx.sql)
    const scans: Scan[] = []
    for (const source of sources)
      scans.push(await measured(ctx, source, () => scanUnderLock(ctx, source, scanning, reason)))
    return { ok: true, scans }
  })
}

/** Counts and times a scan, and makes it a span. */
async function measured(ctx: ControlContext, source: ScannedSource, scan: () => Promise<Scan>): Promise<Scan> {
  const { scans, scanSeconds } = ctx.metrics
  const end = scanSeconds.startTimer({ kind: source.kind })
  const attributes = { 'gateway.source': source.code, 'gateway.source_kind': source.kind }
  const span = { kind: 'internal', parent: currentTrace(), attributes } as const
  const done = await traced(ctx, 'scan', span, scan, ({ status, message }) => (status === 'failed' ? message : null))
  end()
  scans.inc({ status: done.status === 'failed' ? 'failed' : 'succeeded' })
  return done
}

/**
 * One scan of a source; the caller holds the scan lock.
 * @param changed paths below the source that are scanned; null for everything
 */
export async function scanUnderLock(
  ctx: ControlContext,
  source: ScannedSource,
  scanning: RunningJob,
  reason: ScanReason,
  changed: readonly string[] | null = null,
): Promise<Scan> {
  const { id, startedAt } = await startScan(ctx.sql, source.code, reason, changed)
  try {
    const found = await walkWatched(ctx, source, changed, id, scanning.held)
    const scanOf = { sourceCode: source.code, startedAt, changed }
    const scan = await recordEnd(ctx.log, scanning.held, () => write(ctx, id, found, scanOf, scanning.lease))
    await pruneScans(ctx.sql, source.code)
    return scan
  } catch (error) {
    const said = reasonOf(error, scanning.held)
    const expected = error instanceof WalkError || error instanceof ScanCancelled || scanning.held.aborted
    ctx.log.warn({ err: expected ? textOf(said) : error, source: source.code }, 'a scan failed')
    const failed = { added: 0, updated: 0, missing: 0, status: 'failed', said } as const
    return await recordEnd(ctx.log, scanning.held, () => finishScan(ctx.sql, id, failed))
  }
}

class ScanCancelled extends CodedError {
  override readonly name = 'ScanCancelled'
  constructor(actor: string) {
    super(coded('scan_cancelled', { actor }))
  }
}

/** Interval at which a running scan reports its progress and checks for a cancellation. */
const RENEW_EVERY_MS = 1000

/** Walks a source for a stored scan, until the scan is cancelled. */
async function walkWatched(
  ctx: ControlContext,
  source: ScannedSource,
  changed: readonly string[] | null,
  id: string,
  signal: AbortSignal,
): Promise<Found> {
  const cancelled = new AbortController()
  let steps = 0
  // If the store does not respond now, the scan continues, and its end waits for the store.
  const renew = () =>
    renewScan(ctx.sql, id, steps).then(
      (actor) => actor !== null && cancelled.abort(new ScanCancelled(actor)),
      () => {},
    )
  const timer = setInterval(() => void renew(), RENEW_EVERY_MS)
  const onProgress = (now: number) => {
    steps = now
  }
  try {
    return await walkSource(ctx, source, AbortSignal.any([signal, cancelled.signal]), { changed, onProgress })
  } finally {
    clearInterval(timer)
  }
}

interface WalkSourceOptions {
  /** the paths below a local source that are looked at; null: everything is */
  readonly changed?: readonly string[] | null
  /** called with the folders listed and files read so far, at most once a second */
  readonly onProgress?: (steps: number) => void
}

export async function walkSource(
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'now'>,
  source: ScannedSource,
  signal: AbortSignal,
  { changed = null, onProgress = () => {} }: WalkSourceOptions = {},
): Promise<Found> {
  if (source.kind === 'service') {
    const { walkService } = await import('./walk-service.js')
    return walkService(ctx, source, signal, onProgress)
  }
  if (source.kind === 'postgis') {
    const { walkDatabase } = await import('./database/walk-database.js')
    return walkDatabase(ctx, source, signal, onProgress)
  }
  if (isRemote(source.path) && source.kind === 'style') throw new WalkError(coded('style_source_remote'))
  if (isRemote(source.path)) {
    // Loaded on demand, since it reads vectors in this process.
    const { walkRemote } = await import('./remote/walk-remote.js')
    return walkRemote(ctx, source, signal, onProgress)
  }
  const { kind, path: root } = source
  if (kind === 'style') return walk({ kind, root }, signal, { onProgress })
  if (kind === 'basemap') {
    // A walk over only the changed paths does not know the other paths, so only a complete walk writes the memory.
    const memory = changed === null ? join(ctx.settings.dataDir, 'scan-memory', `${source.code}.json`) : null
    return walk({ kind, root, changed, memory }, signal, { onProgress })
  }
  const known = await readKnownFiles(ctx.sql, source.code, changed?.map(withoutExtension) ?? null)
  const scratch = await scratchFolder(ctx)
  try {
    return await walk({ kind, root, changed, known, scratch }, signal, { onProgress })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Writes the catalog, the change log and the scan's row in one transaction. */
async function write(ctx: ControlContext, id: string, found: Found, scan: ScanOf, lease: JobLease): Promise<Scan> {
  const { finished, changes } = await writeUnderLease(ctx.sql, lease, async (tx) => {
    const cancelledBy = await renewScan(tx, id, found.steps)
    if (cancelledBy !== null) throw new ScanCancelled(cancelledBy)
    await causeDeliveries(tx, traceToKeep())
    const { added, updated, missing, warnings, changes } = await apply(tx, ctx, found, scan)
    const said = joined(warnings)
    const finished = await finishScan(tx, id, { status: 'succeeded', added, updated, missing, said, warnings })
    return { finished, changes: await logChanges(tx, changes) }
  })
  await edgesFollow(ctx, await publishChanges(ctx, changes))
  return finished
}

function apply(tx: Transaction, { settings }: ControlContext, found: Found, scan: ScanOf): Promise<Applied> {
  if (found.kind === 'vector') return applyVectors(tx, found.found, scan)
  if (found.kind === 'style') return applyStyles(tx, found.found, scan)
  return applyBasemaps(tx, found.found, scan, settings.tilePublicBaseUrl)
}

/** Maximum number of characters in a scan's message. The first warnings show the problem. */
const MAX_MESSAGE = 4000

/** Joins the warnings into one message; null without warnings. A single warning is the message itself. */
function joined({ texts, coded: messages, total }: Warnings): CodedMessage | null {
  const [only] = messages
  if (total === 0) return null
  if (total === 1 && only !== undefined) return only
  const text = texts.join('; ')
  const isWhole = texts.length === total && text.length <= MAX_MESSAGE
  return coded('scan_warnings', { count: total, texts: isWhole ? text : `${text.slice(0, MAX_MESSAGE)}…` })
}

function reasonOf(error: unknown, held: AbortSignal): CodedMessage {
  if (held.reason === 'stopped') return coded('scan_stopped_here')
  return held.aborted || error instanceof LeaseLost ? coded('scan_lease_lost') : messageOfError(error)
}
