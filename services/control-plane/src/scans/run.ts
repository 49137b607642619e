import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { Scan, ScanSource } from '@gateway/contracts/scan-source.js'
import { logChanges } from '@gateway/store/change-log.js'
import { failAbandonedScans, finishScan, pruneScans, startScan } from '@gateway/store/scan-sources.js'
import { readVectors } from '@gateway/store/vectors.js'
import type { ControlContext } from '../context.js'
import { publishChanges } from '../context.js'
import { type Applied, applyBasemaps, applyVectors } from './apply.js'
import { startExaminer } from './examiner.js'
import { type HeldScanLock, tryScanLock } from './scan-lock.js'
import { walkBasemaps } from './walk-basemaps.js'
import { walkVectors } from './walk-vectors.js'

export type ScanRun = { readonly ok: true; readonly scan: Scan } | Refusal

const SCAN_RUNNING = refuse('scan_running', 'a scan is already running')

type Source = Pick<ScanSource, 'code' | 'kind' | 'path'>

/** Scans one source now. One scan runs at a time in the whole cluster: refused while there is another. */
export async function runScan(ctx: ControlContext, source: Source): Promise<ScanRun> {
  const lock = await tryScanLock(ctx.sql)
  if (lock === null) return SCAN_RUNNING
  try {
    return { ok: true, scan: await scanUnderLock(ctx, source, lock) }
  } finally {
    await lock.release()
  }
}

/** Scans several sources under one lock, one after the other. */
export async function runScans(
  ctx: ControlContext,
  sources: readonly Source[],
): Promise<{ ok: true; scans: Scan[] } | Refusal> {
  const lock = await tryScanLock(ctx.sql)
  if (lock === null) return SCAN_RUNNING
  try {
    const scans: Scan[] = []
    for (const source of sources) scans.push(await scanUnderLock(ctx, source, lock))
    return { ok: true, scans }
  } finally {
    await lock.release()
  }
}

async function scanUnderLock(ctx: ControlContext, source: Source, lock: HeldScanLock): Promise<Scan> {
  await failAbandonedScans(ctx.sql)
  const id = await startScan(ctx.sql, source.code)
  try {
    const scan = await walkAndWrite(ctx, source, lock, id)
    await pruneScans(ctx.sql, source.code)
    return scan
  } catch (error) {
    ctx.log.warn({ err: error, source: source.code }, 'a scan failed and changed nothing')
    return await finishScan(ctx.sql, id, { ...NOTHING, status: 'failed', message: reasonOf(error, source) })
  }
}

const NOTHING = { added: 0, updated: 0, missing: 0 }

async function walkAndWrite(ctx: ControlContext, source: Source, lock: HeldScanLock, id: string): Promise<Scan> {
  const write = await walk(ctx, source, AbortSignal.any([ctx.shutdown, lock.lost]))
  const { scan, changes } = await lock.write(async (tx) => {
    const applied = await write(tx)
    const { added, updated, missing, warnings } = applied
    const scan = await finishScan(tx, id, { status: 'succeeded', added, updated, missing, message: joined(warnings) })
    return { scan, changes: await logChanges(tx, applied.changes) }
  })
  await publishChanges(ctx, changes)
  return scan
}

type Write = (tx: Parameters<typeof applyVectors>[0]) => Promise<Applied>

/** Looks at the source, and answers what is to be written in the transaction that follows. */
async function walk(ctx: ControlContext, source: Source, signal: AbortSignal): Promise<Write> {
  const examiner = startExaminer()
  try {
    if (source.kind === 'basemap') {
      const found = await walkBasemaps(source.path, examiner, signal)
      return (tx) => applyBasemaps(tx, found, source.code, ctx.settings.tilePublicBaseUrl)
    }
    const known = (await readVectors(ctx.sql, null)).filter((vector) => vector.sourceCode === source.code)
    const fingerprints = new Map(known.map((vector) => [vector.relativePath, vector.fingerprint]))
    const found = await walkVectors(source.path, examiner, fingerprints, signal)
    return (tx) => applyVectors(tx, found, source.code)
  } finally {
    await examiner.close()
  }
}

/** So much of a scan's warnings is kept; the first ones are enough to see what is wrong. */
const MAX_MESSAGE = 4000

function joined(warnings: readonly string[]): string {
  const text = warnings.join('; ')
  if (text.length <= MAX_MESSAGE) return text
  return `${warnings.length} warnings: ${text.slice(0, MAX_MESSAGE)}…`
}

/** Words for the operator; the path is the one that they configured. */
function reasonOf(error: unknown, source: Source): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `${source.path} (or something in it) is not there: nothing was changed`
  if (code === 'EACCES' || code === 'EPERM') return `permission denied: ${message}`
  return message
}
