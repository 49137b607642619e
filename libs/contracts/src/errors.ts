import { type CodedMessage, textOfAll } from './messages.js'
import { REFUSAL_DETAILS_HEADER, REFUSAL_HEADER } from './without-schemas.js'

/**
 * Every refusal by its stable code, and the only table of their HTTP statuses.
 * The body of every error response is `{"error": "<human-readable message>"}`.
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
  upstream_wrong: 502,
  dependency_down: 503,
  draining: 503,
  upstream_silent: 504,
  version_not_supported: 505,
} as const

export type ErrorCode = keyof typeof STATUS_OF_ERROR

/** An expected refusal, as a value: its kind, and a message for the caller. */
export interface Refusal {
  readonly ok: false
  readonly code: ErrorCode
  readonly message: string
  /** whole seconds until a retry, if they are known better than the default of the status */
  readonly retryAfterSeconds?: number
  /** codes of the message, for other languages */
  readonly details?: readonly CodedMessage[]
}

/** @param said the message, or several in their order */
export function refuse(code: ErrorCode, said: CodedMessage | readonly CodedMessage[]): Refusal {
  const details = 'code' in said ? [said] : said
  return { ok: false, code, message: textOfAll(details), details }
}

/** Maximum bytes of the header with the sentences. A longer list is omitted, since the body contains it too. */
const MAX_DETAILS_BYTES = 4096

/** Returns the headers that name a refusal, for operators and for edges. */
export function refusalHeaders({ code, details = [] }: Refusal): [name: string, value: string][] {
  const field = encodeURIComponent(JSON.stringify(details.map(({ code, params }) => [code, params])))
  const hasDetails = details.length > 0 && field.length <= MAX_DETAILS_BYTES
  return [[REFUSAL_HEADER, code], ...(hasDetails ? ([[REFUSAL_DETAILS_HEADER, field]] as [string, string][]) : [])]
}

/** Returns the JSON text of an error body. */
export function errorBody(message: string): string {
  return JSON.stringify({ error: message })
}
