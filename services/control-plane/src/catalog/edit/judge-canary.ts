import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { CanaryCounts, StoredSwitch } from '@gateway/store/default-switches.js'

/** Minimum number of requests for the new version. A smaller number proves nothing. */
export const LEAST_JUDGED = 20

/**
 * Returns the reason why the new version is worse than the previous one, by the counts that edges have reported, or null. It is worse if its share of
 * 404s, or of 5xx, exceeds that of the previous version by more than the tolerance (0 to 1).
 */
export function judgeCanary(
  { version, beforeVersion, before, after }: Pick<StoredSwitch, 'version' | 'beforeVersion' | 'before' | 'after'>,
  tolerance: number,
): CodedMessage | null {
  if (after.requests < LEAST_JUDGED) return null
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
