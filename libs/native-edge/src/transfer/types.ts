/** The types of uWebSockets.js that are used here. They are structural, so that this library depends on no server. */
export interface HttpResponse {
  writeStatus(status: string): unknown
  writeHeader(key: string, value: string): unknown
  /** Returns [all bytes were accepted, the response is complete]. */
  tryEnd(chunk: Uint8Array, totalSize: number): [boolean, boolean]
  end(body?: string | Uint8Array): unknown
  cork(callback: () => void): unknown
  onAborted(handler: () => void): unknown
  onWritable(handler: (offset: number) => boolean): unknown
  getWriteOffset(): number
  close(): unknown
}

export interface HttpRequest {
  getUrl(): string
  getQuery(): string
}

export interface HttpApp {
  get(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): unknown
}

/**
 * The ends of a body:
 * - `sent`: all of it was handed to the kernel.
 * - `aborted`: the client or the server closed the connection.
 * - `truncated`: the file was shorter than promised, or could not be read.
 * - `stalled`: the client read nothing for the whole stall time.
 * The connection is closed unless the body was `sent`, so that the client notices the missing bytes.
 */
export const OUTCOMES = ['sent', 'aborted', 'truncated', 'stalled'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** `native` is faster; `copy` works everywhere. */
export type TierName = 'native' | 'copy'

/** The field that the native tier adds to requests in HTTP/1.0, with that version as its value (native/uws/request_head.cc). */
export const VERSION_FIELD = 'x-http-version'

/** Length of a body that ends with its connection, as uWebSockets.js is told it. The addon removes the field that announces it. */
export const ENDLESS = Number.MAX_SAFE_INTEGER

/** One body to send. `length` is at least 1. */
export interface Job {
  readonly res: HttpResponse
  readonly fd: number
  readonly offset: number
  readonly length: number
  /** Must be called exactly once; does not throw. `bytes` is the part of the body that was handed on. */
  settle(outcome: Outcome, bytes: number): void
}

/** A way of sending bodies. `send` is called with status and headers written, inside the cork of `job.res`; it does not throw. */
export interface Tier {
  readonly name: TierName
  send(job: Job): void
}

export interface SenderLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const NOTHING = new Uint8Array(0)

/** Address on which the App listens. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** True if the App uses TLS. */
  readonly isEncrypted?: boolean
}
