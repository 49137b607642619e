import type { ServerOptions } from 'node:http'

/** Bodies are JSON documents of configuration size. decisions.md: larger ones return 413. */
const BODY_LIMIT_BYTES = 1024 * 1024

/** Request line and headers together: enough for a long path and a few tokens, and too little for a memory attack. */
const MAX_HEADER_BYTES = 16 * 1024

/** A code may have 200 characters of up to 4 bytes, each byte written as %XX. */
const MAX_PARAM_LENGTH = 200 * 4 * 3

/** A client that has not sent its headers by then holds the connection on purpose. body-rules.ts limits bodies, since an import may take longer. */
export const HEADERS_TIMEOUT_MS = 10_000
const TIMEOUT_CHECK_MS = 5_000

const httpOptions: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  // Node would refuse a request without Host in its own form; framing.ts does it in ours.
  requireHostHeader: false,
}

/** The limits of the listener. A response may take long (a scan), so only receiving is timed. */
export const SERVER_LIMITS = {
  bodyLimit: BODY_LIMIT_BYTES,
  requestTimeout: 0,
  routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  http: httpOptions,
} as const
