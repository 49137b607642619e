/** The part of an attempt's outcome that determines the next attempt. */
export interface AttemptOutcome {
  readonly delivered: boolean
  /** the receiver's `Retry-After`, unchanged; null: none */
  readonly retryAfter: string | null
}

export type NextStep =
  | { readonly status: 'succeeded' | 'failed' }
  | { readonly status: 'retrying'; readonly waitSeconds: number }

/** Maximum wait that a receiver may request, beyond the configured ones. */
export const MAX_RETRY_AFTER_SECONDS = 3600

/**
 * Decides what follows an attempt: the end, or the wait until the next one. `attempt` counts from 1; `waits` are RETRY_WAITS in seconds, one for
 * each retry; `now` is in milliseconds since 1970. Retry-After can only lengthen a wait.
 */
export function nextStep(outcome: AttemptOutcome, attempt: number, waits: readonly number[], now: number): NextStep {
  if (outcome.delivered) return { status: 'succeeded' }
  const wait = waits[attempt - 1]
  if (wait === undefined) return { status: 'failed' }
  const asked = retryAfterSeconds(outcome.retryAfter, now) ?? 0
  return { status: 'retrying', waitSeconds: Math.max(wait, Math.min(asked, MAX_RETRY_AFTER_SECONDS)) }
}

/** Parses Retry-After (RFC 9110, 10.2.3): a number of seconds, or an HTTP date in the future. Returns seconds; null if absent or invalid. */
export function retryAfterSeconds(header: string | null, now: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text)
  // Only HTTP's form, because Date.parse also accepts a bare year and guesses at other texts.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) || at <= now ? null : (at - now) / 1000
}
