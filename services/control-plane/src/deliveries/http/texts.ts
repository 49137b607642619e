import type { Readable } from 'node:stream'
import { CodedError, type CodedMessage, coded, type MessageCode, messageOfError } from '@gateway/contracts/messages.js'

/** Read at most: an endless answer costs no more than this. */
const MAX_READ_BYTES = 16 * 1024
/** Kept for the operator: enough for the beginning of an error page. */
const MAX_KEPT_CHARACTERS = 1000

/**
 * The first part of an answer's body as text that can be stored and shown. What is cut short or takes too long is kept as far as it came:
 * the status has already decided the attempt. `secrets` are cut out, since some receivers answer with what they were sent.
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
    // Whatever ended it ended the reading.
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString('utf8')
  return shownText(text, secrets).slice(0, MAX_KEPT_CHARACTERS)
}

/** A text as it can be stored, also within JSON, and shown: without secrets, control characters and halves of characters. */
export function shownText(text: string, secrets: readonly string[]): string {
  let left = text
  for (const secret of secrets) left = left.replaceAll(secret, '[redacted]')
  return Buffer.from(shown(left), 'utf8').toString('utf8')
}

/** Without what Postgres cannot store or a terminal would obey. */
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

/** Why an exchange failed, for operators. */
export function errorMessage(error: unknown): CodedMessage {
  const { name, code, message, errors, cause } = error as Error & { code?: unknown; errors?: unknown[] }
  // One entry for each address that was tried: the first is enough.
  if (Array.isArray(errors) && errors.length > 0) return errorMessage(errors[0])
  const known = KNOWN_ERRORS[String(code)]
  if (known !== undefined) return coded(known)
  if (name === 'HTTPParserError') return coded('delivery_not_http')
  if (error instanceof CodedError) return error.said
  if (cause instanceof Error && code === undefined) return errorMessage(cause)
  return messageOfError(shown(message ?? String(error)).slice(0, MAX_MESSAGE))
}
