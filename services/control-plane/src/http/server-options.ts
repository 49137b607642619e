import type { ServerOptions } from 'node:http'

/** Every route takes JSON documents of configuration size; what is bigger is no such document. From decisions.md: 413 above it. */
export const BODY_LIMIT_BYTES = 1024 * 1024

/** Request line and headers together; room for a long path and a few tokens, too little for a memory attack. */
const MAX_HEADER_BYTES = 16 * 1024

/** A code may have 200 characters, each of up to 4 bytes, each byte written as %XX. */
const MAX_PARAM_LENGTH = 200 * 4 * 3

/** A client that has not sent its headers, or its whole request, by then is too slow to be honest. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const TIMEOUT_CHECK_MS = 5_000

/** Longer than the idle time after which proxies in front (60 s in most) close a connection: the server must not be the first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

const httpOptions: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  // Node would refuse a request without Host in a form of its own; framing.ts does it in ours.
  requireHostHeader: false,
}

/** The limits of the listener. An answer may take long (a scan), so that only receiving is timed. */
export const SERVER_LIMITS = {
  bodyLimit: BODY_LIMIT_BYTES,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  http: httpOptions,
} as const
