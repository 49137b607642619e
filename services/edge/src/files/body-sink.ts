/** Where the bytes of one body go. What sends files knows this and nothing of the HTTP server. */
export interface BodySink {
  /** the server's own response object, for senders that reach below it */
  readonly raw: object
  /** the connection is gone; nothing may be called any more */
  readonly aborted: boolean
  /**
   * Offers the next piece of a body of `total` bytes. `done`: the body is complete, nothing may be called any more. `taken`: more, please.
   * `full`: the socket is full; `written` tells how much of the body it took, and the writable callback comes when there is room.
   */
  offer(piece: Uint8Array, total: number): 'done' | 'taken' | 'full'
  /** bytes of the body that the socket has taken */
  written(): number
  onWritable(callback: () => void): void
  onAbort(callback: () => void): void
  /** The reader is slow, not gone: do not let the server's own timer cut it. To be repeated at least every 8 s. */
  keepWaiting(): void
  /** Cuts the connection: a body that cannot be completed must not look complete. */
  cut(): void
}

/** `truncated`: the file ended before the range did. `stalled`: nobody read for too long. In both the connection was cut. */
export type SendOutcome = 'sent' | 'aborted' | 'truncated' | 'stalled'
