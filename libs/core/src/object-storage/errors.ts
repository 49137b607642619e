/** The object or the whole bucket does not exist. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing'
}

/** The object was replaced after the caller began to read it. */
export class ObjectReplaced extends Error {
  override readonly name = 'ObjectReplaced'
}

/**
 * Retries cannot succeed: wrong credentials, a wrong clock, a destination that CALLBACK_DENY forbids, or a server without range requests.
 * An operator has to change something.
 */
export class ObjectRefused extends Error {
  override readonly name = 'ObjectRefused'
}

/** A temporary failure: a timeout, a connection that failed or broke, 429, a 5xx status, or an open circuit. */
export class ObjectStoreTrouble extends Error {
  override readonly name = 'ObjectStoreTrouble'
  /** whole seconds until the next attempt makes sense; at least 1 */
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 1, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds))
  }
}
