import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { type CanaryCounts, endSwitch, type StoredSwitch, startCanary } from '@gateway/store/default-switches.js'
import { insertEvents } from '@gateway/store/deliveries.js'
import { traceToKeep } from '../../platform/trace.js'
import { checkNewDefault } from './check-new-default.js'

/** Minimum number of requests for the new version before the end of its canary. A smaller number proves little; at the end it must do. */
export const LEAST_JUDGED = 20

/**
 * Returns the reason why the new version is worse than the previous one, by the counts that edges have reported, or null. It is worse if its share of
 * 404s, or of 5xx, exceeds that of the previous version by more than the tolerance (0 to 1).
 * @param hasEnded the minutes of the canary are over, so that no more requests will come
 */
export function judgeCanary(
  { version, beforeVersion, before, after }: Pick<StoredSwitch, 'version' | 'beforeVersion' | 'before' | 'after'>,
  tolerance: number,
  hasEnded: boolean,
): CodedMessage | null {
  if (!hasEnded && after.requests < LEAST_JUDGED) return null
  const exceeds = (what: 'missing' | 'failed') => share(after, what) - share(before, what) > tolerance
  const about = (what: 'missing' | 'failed') => ({
    version,
    before_version: beforeVersion ?? '',
    after: percent(share(after, what)),
    before: percent(share(before, what)),
  })
  if (exceeds('failed')) return coded('canary_failed', about('failed'))
  return exceeds('missing') ? coded('canary_missing', about('missing')) : null
}

function share(counts: CanaryCounts, what: 'missing' | 'failed'): number {
  return counts.requests === 0 ? 0 : counts[what] / counts.requests
}

function percent(share: number): number {
  return Math.round(share * 10_000) / 100
}

type Changes = readonly NewChange[]

/** Makes a pending switch, or begins its canary. Returns the changes for edges; empty if another control plane has done it. */
export async function beginSwitch(tx: Transaction, planned: StoredSwitch): Promise<Changes> {
  const { id, basemapCode, version, canary } = planned
  const found = await checkNewDefault(tx, basemapCode, version)
  if (!found.ok) {
    if (!(await endSwitch(tx, id, 'failed'))) return []
    const { message: reason } = found
    await audit(tx, planned, 'basemap.switch-failed', { version, reason })
    await announce(tx, planned, 'basemap.default.switch_failed', { reason })
    return []
  }
  const { defaultVersion } = found.basemap
  if (canary === null || defaultVersion === null || defaultVersion === version)
    return complete(tx, planned, defaultVersion, {})
  if (!(await startCanary(tx, id, defaultVersion))) return []
  const detail = { ...canary, before_version: defaultVersion }
  await audit(tx, planned, 'basemap.start-canary', { version, ...detail })
  await announce(tx, planned, 'basemap.default.canary_started', detail)
  return [{ kind: 'basemap', key: basemapCode }]
}

/** Ends a canary: at once if the new version is worse or cannot be served any more, otherwise at its end. `tolerance`: 0 to 1. */
export async function continueCanary(
  tx: Transaction,
  running: StoredSwitch,
  nowMs: number,
  tolerance: number,
): Promise<Changes> {
  const { basemapCode, version, beforeVersion } = running
  const found = await checkNewDefault(tx, basemapCode, version)
  const hasEnded = nowMs >= endsAt(running)
  const worse: CodedMessage | null = found.ok ? judgeCanary(running, tolerance, hasEnded) : null
  if (!found.ok || worse !== null)
    return rollBack(tx, running, found.ok ? textOf(worse as CodedMessage) : found.message)
  if (!hasEnded) return []
  return complete(tx, running, beforeVersion, countsOf(running))
}

/** Returns the end of a running canary, in milliseconds since 1970. */
export function endsAt({ startedAt, canary }: StoredSwitch): number {
  return (startedAt as Date).getTime() + (canary?.minutes ?? 0) * 60_000
}

export function countsOf({ before, after }: StoredSwitch) {
  return { before, after }
}

async function rollBack(tx: Transaction, running: StoredSwitch, reason: string): Promise<Changes> {
  const { id, basemapCode, version, beforeVersion } = running
  if (!(await endSwitch(tx, id, 'rolled_back'))) return []
  const outcome = { reason, before_version: beforeVersion, counts: countsOf(running) }
  await audit(tx, running, 'basemap.roll-back-canary', { version, ...outcome })
  const { counts, ...told } = outcome
  await announce(tx, running, 'basemap.default.rolled_back', { ...told, ...counts })
  return [{ kind: 'basemap', key: basemapCode }]
}

async function complete(
  tx: Transaction,
  planned: StoredSwitch,
  before: string | null,
  counts: { readonly before?: object; readonly after?: object },
): Promise<Changes> {
  const { id, basemapCode, version } = planned
  if (!(await endSwitch(tx, id, 'done'))) return []
  await setDefaultVersion(tx, basemapCode, version)
  const change = { before: { default_version: before }, after: { default_version: version } }
  await audit(tx, planned, 'basemap.default-version', { ...change, ...(counts.after && { counts }) })
  await announce(tx, planned, 'basemap.default.switched', counts)
  return [{ kind: 'basemap', key: basemapCode }]
}

/** Records the entry in the name of the operator who planned the switch. */
async function audit(tx: Transaction, planned: StoredSwitch, action: string, detail: object): Promise<void> {
  const { actor, address, basemapCode, at } = planned
  const name = (await readBasemap(tx, basemapCode))?.name
  const recorded = { name, planned_at: at.toISOString(), ...detail }
  await insertAudit(tx, { actor, address, action, subject: basemapCode, detail: recorded })
}

function announce(
  tx: Transaction,
  { basemapCode, version, actor, at }: StoredSwitch,
  event: string,
  more: object,
): Promise<void> {
  const body = { basemap_code: basemapCode, version, actor, at: at.toISOString(), ...more }
  return insertEvents(tx, { event, basemapCode, version, body }, traceToKeep())
}
