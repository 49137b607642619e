import type { IncomingMessage } from 'node:http'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { judgeHeader } from '@gateway/contracts/header-limits.js'
import { coded } from '@gateway/contracts/messages.js'

type FramedRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url' | 'httpVersion'>

/** Maximum length of path and query together, as at the edge. */
const MAX_ADDRESS = 8_192

/**
 * Checks the lengths in a request's head before any other code reads it. Removes headers that are too long and may be ignored. Returns null if
 * there is nothing to refuse.
 */
export function unboundedHead({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>): Refusal | null {
  if (url.length > MAX_ADDRESS) return refuse('uri_too_long', coded('address_too_long'))
  for (const [name, value] of Object.entries(headers)) {
    const judged = judgeHeader(name, String(value ?? '').length)
    if (judged === 'ignored') delete headers[name]
    else if (judged !== 'fits') return judged
  }
  return null
}

/**
 * Finds input that Node's parser accepts although two servers in a row could read it differently, which is how requests are smuggled past a
 * gate (RFC 9112, 6.1 and 3.2; RFC 9110, 7.2): a transfer coding other than chunked, several Hosts or none, a target that is not a path, or a
 * version above HTTP/1. Returns null for unambiguous requests.
 */
export function ambiguousFraming(request: FramedRequest): Refusal | null {
  if (!request.httpVersion.startsWith('1.')) return refuse('version_not_supported', coded('http_version'))
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return refuse('invalid_parameters', coded('transfer_encoding'))
  }
  if (coding !== undefined && request.headers['content-length'] !== undefined) {
    return refuse('invalid_parameters', coded('framed_twice'))
  }
  const hosts = count(request.rawHeaders, 'host')
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    return refuse('invalid_parameters', coded('one_host'))
  }
  if (!request.url?.startsWith('/') && request.url !== '*') {
    return refuse('invalid_parameters', coded('address_not_path'))
  }
  return null
}

/** `http://host/path` (RFC 9112, 3.2.2), with a host as the edge accepts it (native/uws/request_head.cc). */
const ABSOLUTE = /^http:\/\/(\[[^\]\s/?#]+\](?::\d*)?|[^\s/?#:@[\]]+(?::\d*)?)([/?].*)?$/i

/** Returns the path of a target that names its host, which overrides the field; any other target unchanged. */
export function pathOfTarget({ url = '', headers }: Pick<IncomingMessage, 'headers' | 'url'>): string {
  const [, host, rest = '/'] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return url
  headers.host = host
  return rest.startsWith('/') ? rest : `/${rest}`
}

function count(rawHeaders: readonly string[], name: string): number {
  let n = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) n++
  return n
}
