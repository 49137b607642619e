import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { EDGE_ADMITTED_HEADER, judgeHeader } from '@gateway/contracts/header-limits.js'
import { coded } from '@gateway/contracts/messages.js'
import { REFUSAL_DETAILS_HEADER, REFUSAL_HEADER } from '@gateway/contracts/without-schemas.js'
import { isForwardingHeader } from '@gateway/core/access/client-address.js'

/** A request for the control plane, rebuilt from validated parts. */
export interface RequestHead {
  readonly ok: true
  /** Unchanged; a method that the service does not know is replaced by one that the control plane refuses. */
  readonly method: string
  /** Path and query, unchanged. */
  readonly target: string
  /** Alternating names and values, without headers of the connection or of the edge itself. */
  readonly headers: readonly string[]
  /** Announced bytes of the body; null: chunked; 0: no body. */
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

/**
 * A method that no path of the control plane accepts: it returns 405 with the methods of the path (RFC 9110, 15.5.6), which the edge does not
 * know.
 */
const NO_METHOD = 'TRACE'

/**
 * Headers that a client may send to the control plane. An allow list, so that no header of a connection (RFC 9110, 7.6.1), and no proof of the
 * edge, passes under any spelling. The headers of a trace are written by proxy.ts.
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
/** `webhook-`: Standard Webhooks, with which another gateway signs the content that it pushes to this one. */
const LET_THROUGH_PREFIXES = ['sec-fetch-', 'sec-ch-', 'access-control-request-', 'webhook-']

/** A second line of these makes the request ambiguous (RFC 9112, 6.3; RFC 9110, 7.2), so it is refused, not resolved. */
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
/** Only visible characters; characters beyond ASCII are percent-encoded first. */
const TARGET = /^\/[\x21-\x7e]*$/

/** Validates and rebuilds a request; refuses anything that two servers could read differently. */
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
    // These decide whether the caller is local.
    isForwardingHeader(name)
  )
}

/** Returns null for a lone surrogate, which represents bytes that were not UTF-8. */
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

/** Operators' pages and programs get the code of a refusal; other clients get only its text and status. */
const ADMINISTRATION = '/api/v1/admin/'
const ABOUT_REFUSALS: ReadonlySet<string> = new Set([REFUSAL_HEADER, REFUSAL_DETAILS_HEADER])

/** Returns the response headers for the client that has requested `path`. */
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
