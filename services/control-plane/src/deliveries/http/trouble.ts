import { shown } from './answer.js'

const KNOWN_TROUBLES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed early',
  UND_ERR_SOCKET: 'the connection was closed before an answer came',
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be made in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'no connection could be made in time',
}

const MAX_MESSAGE = 300

/** Words for an operator about why an exchange failed. */
export function troubleMessage(error: unknown): string {
  const { name, code, message, errors, cause } = error as Error & { code?: unknown; errors?: unknown[] }
  // One entry for each address that was tried: the first says enough.
  if (Array.isArray(errors) && errors.length > 0) return troubleMessage(errors[0])
  const known = KNOWN_TROUBLES[String(code)]
  if (known !== undefined) return known
  if (name === 'HTTPParserError') return 'the answer is not HTTP'
  if (cause instanceof Error && code === undefined) return troubleMessage(cause)
  return shown(message ?? String(error)).slice(0, MAX_MESSAGE)
}
