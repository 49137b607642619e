import { type CodedMessage, textOfAll } from './messages.js'

/**
 * Every refusal that a caller can meet, by a stable code, and the one table that gives each its HTTP status.
 * The body of every error answer is `{"error": "<human-readable message>"}`.
 */
export const STATUS_OF_ERROR = {
  invalid_parameters: 400,
  conflicting_tokens: 400,
  token_missing: 401,
  token_malformed: 401,
  token_unknown: 401,
  token_expired: 401,
  token_disabled: 401,
  signature_wrong: 401,
  signature_expired: 401,
  admin_credentials_missing: 401,
  admin_credentials_wrong: 401,
  session_ended: 401,
  origin_not_allowed: 403,
  network_not_allowed: 403,
  outside_bounds: 403,
  scope_missing: 403,
  resource_not_granted: 403,
  admin_remote_off: 403,
  admin_host_unknown: 403,
  cross_site: 403,
  role_missing: 403,
  not_found: 404,
  tile_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  scan_running: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  too_many_requests: 429,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  dependency_down: 503,
  draining: 503,
} as const

/** By this header of an answer the control plane tells an edge which refusal it is, for the edge's counters, and operators; other callers behind an edge do not see it. */
export const REFUSAL_HEADER = 'x-refusal'

/** The sentences of such an answer by code and parameters, `[[code, params], ...]` as percent-encoded JSON, for the same callers. */
export const REFUSAL_DETAILS_HEADER = 'x-refusal-details'

export type ErrorCode = keyof typeof STATUS_OF_ERROR
export type ErrorStatus = (typeof STATUS_OF_ERROR)[ErrorCode]

/** An expected refusal, as a value: what kind, and words for the caller. */
export interface Refusal {
  readonly ok: false
  readonly code: ErrorCode
  readonly message: string
  /** whole seconds after which to try again, where that is known better than for others of its status */
  readonly retryAfterSeconds?: number
  /** the message by codes, for other languages */
  readonly details?: readonly CodedMessage[]
}

/** @param said the message, or several in their order */
export function refuse(code: ErrorCode, said: CodedMessage | readonly CodedMessage[]): Refusal {
  const details = 'code' in said ? [said] : said
  return { ok: false, code, message: textOfAll(details), details }
}

/** The JSON text of an error body. */
export function errorBody(message: string): string {
  return JSON.stringify({ error: message })
}
