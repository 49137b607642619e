import type { Readable } from 'node:stream'
import { CodedError, type CodedMessage, coded, type MessageCode, messageOfError } from '@gateway/contracts/messages.js'
import { removeSecrets } from '@gateway/core/access/redact.js'

/** Maximum bytes that are read, so that an endless response is cheap. */
const MAX_READ_BYTES = 16 * 1024
/** Maximum characters kept for the operator: enough for the beginning of an error page. */
const MAX_KEPT_CHARACTERS = 1000

/**
 * Returns the beginning of a response's body as text that can be stored and shown. If the body breaks off or takes too long, the received part is
 * kept: the status has already decided the attempt. `secrets` are removed, since some receivers return what they were sent.
 */
export async function readAnswer(body: Readable, secrets: readonly string[]): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= MAX_READ_BYTES) break
    }
  } catch {
    // The reason for the end does not matter here.
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString('utf8')
  return shownText(text, secrets).slice(0, MAX_KEPT_CHARACTERS)
}

/** Returns text that can be stored, also within JSON, and shown: without secrets, control characters and unpaired surrogates. */
export function shownText(text: string, secrets: readonly string[]): string {
  return Buffer.from(shown(removeSecrets(text, secrets)), 'utf8').toString('utf8')
}

/** Returns a URL without its query, fragment and user, in which people put secrets. Empty if the text is not a URL. */
export function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return ''
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname}`
}

/** Removes characters that Postgres cannot store or a terminal would interpret. */
function shown(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
}

const KNOWN_ERRORS: Readonly<Record<string, MessageCode>> = {
  ECONNREFUSED: 'delivery_connection_refused',
  ECONNRESET: 'delivery_connection_reset',
  EPIPE: 'delivery_connection_closed',
  UND_ERR_SOCKET: 'delivery_closed_before_answer',
  UND_ERR_CONNECT_TIMEOUT: 'delivery_connect_late',
  UND_ERR_HEADERS_OVERFLOW: 'delivery_headers_too_large',
  HPE_HEADER_OVERFLOW: 'delivery_headers_too_large',
  ENOTFOUND: 'delivery_host_unknown',
  EAI_AGAIN: 'delivery_host_unresolved',
  EHOSTUNREACH: 'delivery_host_unreachable',
  ENETUNREACH: 'delivery_network_unreachable',
  ETIMEDOUT: 'delivery_connect_late',
}

const MAX_MESSAGE = 300

type FailedExchange = Error & {
  readonly code?: unknown
  readonly errors?: unknown[]
  /** part of OpenSSL that failed, and why */
  readonly library?: string
  readonly reason?: string
}

/** Returns the reason of a failed exchange, for operators. */
export function errorMessage(error: unknown): CodedMessage {
  const { name, code, message, errors, cause, reason, library } = error as FailedExchange
  // One entry for each tried address. The first is enough.
  if (Array.isArray(errors) && errors.length > 0) return errorMessage(errors[0])
  const known = KNOWN_ERRORS[String(code)]
  if (known !== undefined) return coded(known)
  if (name === 'HTTPParserError') return coded('delivery_not_http')
  // The message of OpenSSL begins with numbers and ends with a line of its source.
  if (library === 'SSL routines' && reason) return coded('delivery_tls_failed', { words: shown(reason) })
  if (error instanceof CodedError) return error.said
  if (cause instanceof Error && code === undefined) return errorMessage(cause)
  return messageOfError(shown(message ?? String(error)).slice(0, MAX_MESSAGE))
}
