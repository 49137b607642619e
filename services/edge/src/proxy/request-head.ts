import { EDGE_ADMITTED_HEADER } from '@gateway/contracts/edge-link.js'
import { REFUSAL_DETAILS_HEADER, REFUSAL_HEADER, type Refusal, refuse } from '@gateway/contracts/errors.js'
import { judgeHeader } from '@gateway/contracts/header-limits.js'
import { coded } from '@gateway/contracts/messages.js'
import { isForwardingHeader } from '@gateway/core/access/client-address.js'

/** A request for the control plane, rebuilt from what was validated. */
export interface RequestHead {
  readonly ok: true
  /** as it came; one that the service does not know is handed on as one that it does not answer */
  readonly method: string
  /** path and query as they came */
  readonly target: string
  /** names and values in turn, without what belongs to the connection or to the edge itself */
  readonly headers: readonly string[]
  /** bytes of the body where they are announced; null: chunked; 0: none */
  readonly bodyLength: number | null
}

/** The request as the HTTP server read it; names in lower case, one entry for each line. */
export interface RawHead {
  readonly method: string
  readonly path: string
  readonly query: string | undefined
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** No path of the control plane takes it: it answers 405 with the methods that the path has (RFC 9110, 15.5.6), which the edge does not know. */
const NO_METHOD = 'TRACE'

/**
 * What a client may say to the control plane. A list of what is let through, so that nothing that belongs to a connection (RFC 9110, 7.6.1),
 * and nothing by which the edge proves itself, gets past it under any spelling. The headers of a trace are written anew (proxy.ts).
 */
const LET_THROUGH: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'x-access-token',
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'pragma',
  'content-type',
  'content-encoding',
  'content-language',
  'cookie',
  'dnt',
  'from',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'origin',
  'priority',
  'prefer',
  'range',
  'referer',
  'save-data',
  'user-agent',
  'x-correlation-id',
  'x-request-id',
  'x-requested-with',
])
/** `webhook-`: Standard Webhooks, by which another gateway signs what it pushes into this one. */
const LET_THROUGH_PREFIXES = ['sec-fetch-', 'sec-ch-', 'access-control-request-', 'webhook-']

/** Of these a second line makes the request mean two things (RFC 9112, 6.3; RFC 9110, 7.2): it is refused, not resolved. */
const ONCE: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-type',
  'authorization',
  'x-access-token',
  'origin',
])

const AMBIGUOUS = refuse('invalid_parameters', coded('framed_ambiguously'))
const BAD_TARGET = refuse('invalid_parameters', coded('address_not_path'))
const BAD_HEADER = refuse('invalid_parameters', coded('header_characters'))

/** Field values are visible ASCII, spaces, tabs and obs-text (RFC 9110, 5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Visible characters alone; what lies beyond ASCII is percent-encoded first. */
const TARGET = /^\/[\x21-\x7e]*$/

/** Validates and rebuilds; refuses what two servers could read differently. */
export function rebuildHead(raw: RawHead): RequestHead | Refusal {
  const method = METHODS.has(raw.method) ? raw.method : NO_METHOD
  const target = encodedBeyondAscii(raw.query === undefined ? raw.path : `${raw.path}?${raw.query}`)
  if (target === null || !TARGET.test(target)) return BAD_TARGET
  const seen = new Set<string>()
  const headers: string[] = []
  let length: string | null = null
  let coding: string | null = null
  for (const [name, value] of raw.headers) {
    if (ONCE.has(name) && seen.has(name)) return AMBIGUOUS
    seen.add(name)
    const judged = judgeHeader(name, value.length)
    if (judged === 'ignored') continue
    if (judged !== 'fits') return judged
    if (name === 'content-length') length = value
    else if (name === 'transfer-encoding') coding = value
    else if (isLetThrough(name)) {
      if (!FIELD_VALUE.test(value)) return BAD_HEADER
      headers.push(name, value)
    }
  }
  if (length !== null && coding !== null) return AMBIGUOUS
  if (coding !== null && coding.toLowerCase() !== 'chunked') return AMBIGUOUS
  if (length !== null && !/^\d{1,15}$/.test(length)) return AMBIGUOUS
  const bodyLength = coding !== null ? null : Number(length ?? 0)
  return { ok: true, method, target, headers, bodyLength }
}

function isLetThrough(name: string): boolean {
  return (
    LET_THROUGH.has(name) ||
    LET_THROUGH_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    // Whether the caller is local is judged by these.
    isForwardingHeader(name)
  )
}

/** null: a lone surrogate, which stands for bytes that were no UTF-8. */
function encodedBeyondAscii(target: string): string | null {
  try {
    return target.replace(/[^\0-\x7f]+/g, encodeURIComponent)
  } catch {
    return null
  }
}

/** Response headers that belong to the connection between edge and control plane, or that the edge's own server writes. */
const NOT_HANDED_BACK: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'te',
  'date',
  'content-length',
  EDGE_ADMITTED_HEADER,
])

/** Operators' pages and programs are told which refusal it is; others have its words and its status. */
const ADMINISTRATION = '/api/v1/admin/'
const ABOUT_REFUSALS: ReadonlySet<string> = new Set([REFUSAL_HEADER, REFUSAL_DETAILS_HEADER])

/** The lines of an answer that go back to the client that has asked for `path`. */
export function headersForClient(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  path: string,
): [string, string][] {
  const lines: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_HANDED_BACK.has(name)) continue
    if (ABOUT_REFUSALS.has(name) && !path.startsWith(ADMINISTRATION)) continue
    for (const one of Array.isArray(value) ? value : [value]) lines.push([name, one])
  }
  return lines
}
