import { coded, textOf } from '@gateway/contracts/messages.js'

/** The object, or the whole bucket, is missing. */
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

/** No keys are configured, and none are found in the other places where AWS's tools look. */
export class CredentialsMissing extends ObjectRefused {
  constructor(options?: ErrorOptions) {
    super(textOf(coded('storage_no_credentials')), options)
  }
}

/** No answer for now: a time-out, a connection that failed or was cut, 429 or a status of the server's own trouble, an open circuit. */
export class ObjectStoreTrouble extends Error {
  override readonly name = 'ObjectStoreTrouble'
  /** whole seconds until the next attempt makes sense; at least 1 */
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 1, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds))
  }
}
