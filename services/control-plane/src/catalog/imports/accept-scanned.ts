import { setTimeout as sleep } from 'node:timers/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded, type MessageCode } from '@gateway/contracts/messages.js'
import { readScanWarnings } from '@gateway/store/scan-sources.js'
import type { ControlContext } from '../../platform/context.js'
import type { Placed } from '../../platform/files/stage.js'
import { runScans, type ScannedSource } from '../scans/run.js'

/** Interval of retries while another scan runs. Scans end, and the sender waits long enough. */
const SCAN_RETRY_MS = 300

/** Limit: warnings of a scan that a refusal names. */
const MAX_REASONS = 5

export interface Registered<T> {
  readonly ok: true
  readonly found: T
  /** warnings of the scan about the imported files */
  readonly warnings: readonly CodedMessage[]
}

interface Wanted<T> {
  /** start of the paths of the imported files, relative to the source */
  readonly prefix: string
  /** reads what the scan has registered; null: nothing */
  find(): Promise<T | null>
  /** message if nothing is registered */
  readonly unusable: MessageCode
}

/**
 * Scans a source of imports after files came to their place. Takes them back if the scan fails or registers nothing, so that an import that fails
 * leaves nothing, and what it would have replaced stays.
 */
export async function acceptScanned<T>(
  ctx: ControlContext,
  source: ScannedSource,
  placed: Placed,
  { prefix, find, unusable }: Wanted<T>,
): Promise<Registered<T> | Refusal> {
  let [isAccepted, isScanned] = [false, false]
  try {
    const run = await scanOnce(ctx, source)
    if (!run.ok) return run
    const [scan] = run.scans
    if (scan === undefined || scan.status === 'failed')
      return refuse('dependency_down', coded('import_scan_failed', { reason: scan?.message ?? '' }))
    isScanned = true
    const all = (await readScanWarnings(ctx.sql, source.code, scan.id)) ?? []
    const warnings = all.flatMap(({ message_code: code, message_params: params }) =>
      code !== null && isAbout(prefix, params ?? {}) ? [{ code: code as MessageCode, params: params ?? {} }] : [],
    )
    const found = await find()
    if (found === null) return refuse('invalid_parameters', [coded(unusable), ...warnings.slice(0, MAX_REASONS)])
    isAccepted = true
    return { ok: true, found, warnings }
  } finally {
    if (isAccepted) await placed.done()
    else {
      await placed.undo()
      // The catalog follows the files that were restored.
      if (isScanned) await scanOnce(ctx, source)
    }
  }
}

async function scanOnce(ctx: ControlContext, source: ScannedSource) {
  for (;;) {
    const run = await runScans(ctx, [source])
    if (run.ok || run.code !== 'scan_running') return run
    await sleep(SCAN_RETRY_MS, undefined, { signal: ctx.shutdown })
  }
}

/** Warnings name files and folders by their quoted paths. */
function isAbout(prefix: string, params: CodedMessage['params']): boolean {
  const start = JSON.stringify(prefix).slice(0, -1)
  return [params.file, params.folder].some((name) => String(name).startsWith(start))
}
