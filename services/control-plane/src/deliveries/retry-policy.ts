/** The outcome of an attempt, as far as the next one depends on it. */
export interface AttemptOutcome {
  readonly delivered: boolean
  /** the receiver's `Retry-After` as it was sent; null: none */
  readonly retryAfter: string | null
}

export type NextStep =
  | { readonly status: 'succeeded' | 'failed' }
  | { readonly status: 'retrying'; readonly waitSeconds: number }

/** A receiver may ask for a longer wait than the fixed ones, up to this. */
export const MAX_RETRY_AFTER_SECONDS = 3600

/**
 * What follows an attempt: the end, or the wait until the next one. `attempt` counts from 1; `waits` are RETRY_WAITS in seconds, one for
 * each retry; `now` is in milliseconds since 1970. Retry-After can make a wait longer, never shorter.
 */
export function nextStep(outcome: AttemptOutcome, attempt: number, waits: readonly number[], now: number): NextStep {
  if (outcome.delivered) return { status: 'succeeded' }
  const wait = waits[attempt - 1]
  if (wait === undefined) return { status: 'failed' }
  const asked = retryAfterSeconds(outcome.retryAfter, now) ?? 0
  return { status: 'retrying', waitSeconds: Math.max(wait, Math.min(asked, MAX_RETRY_AFTER_SECONDS)) }
}

/** Retry-After in seconds (RFC 9110, 10.2.3): a number of seconds, or an HTTP date in the future. null: absent, or neither. */
export function retryAfterSeconds(header: string | null, now: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text)
  // Only the form that HTTP has: Date.parse alone also takes a bare year, and what it guesses of other texts.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) || at <= now ? null : (at - now) / 1000
}
