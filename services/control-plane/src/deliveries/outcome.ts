/** What one attempt came to, in the words that its line keeps for the operator. */
export interface Outcome {
  readonly delivered: boolean
  /** null: no HTTP answer came, or none was asked for */
  readonly httpStatus: number | null
  /** as the receiver sent it */
  readonly retryAfter: string | null
  readonly message: string
  /** the first part of what was answered */
  readonly answer: string
}

export function failure(message: string): Outcome {
  return { delivered: false, httpStatus: null, retryAfter: null, message, answer: '' }
}

export function success(message: string): Outcome {
  return { delivered: true, httpStatus: null, retryAfter: null, message, answer: '' }
}
