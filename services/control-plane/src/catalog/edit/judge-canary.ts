import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { CanaryCounts, StoredSwitch } from '@gateway/store/default-switches.js'

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
