/** The types of uWebSockets.js, as far as they are used: by structure, so that this library depends on no server. */
export interface HttpResponse {
  writeStatus(status: string): unknown
  writeHeader(key: string, value: string): unknown
  /** [everything was accepted, the response is complete] */
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
 * How a body ended. `sent`: all of it is with the kernel. `aborted`: the client or the server closed the connection. `truncated`: the
 * file was shorter than promised, or could not be read. `stalled`: the client took nothing for the whole stall time. In all cases but
 * `sent` the connection is closed, so that the client sees that something is missing.
 */
export const OUTCOMES = ['sent', 'aborted', 'truncated', 'stalled'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** `native` is the faster one, `copy` the one that always works. */
export type TierName = 'native' | 'copy'

/** One body to send. `length` is at least 1. */
export interface Job {
  readonly res: HttpResponse
  readonly fd: number
  readonly offset: number
  readonly length: number
  /** To be called exactly once; does not throw. `bytes` is how much of the body was handed on. */
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

/** Where the App listens. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** it speaks TLS */
  readonly isEncrypted?: boolean
}
