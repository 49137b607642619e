import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'
import type { SentRequest } from '@gateway/contracts/push.js'

/** The outcome of one attempt, as recorded for operators. */
export interface Outcome {
  readonly delivered: boolean
  /** null: no HTTP response */
  readonly httpStatus: number | null
  /** exactly as the receiver sent it */
  readonly retryAfter: string | null
  /** in English */
  readonly message: string
  /** the code and parameters of the message */
  readonly said: CodedMessage
  /** beginning of the response's body */
  readonly answer: string
  /** null: nothing was sent over HTTP */
  readonly request: SentRequest | null
}

export function failure(said: CodedMessage): Outcome {
  return {
    delivered: false,
    httpStatus: null,
    retryAfter: null,
    message: textOf(said),
    said,
    answer: '',
    request: null,
  }
}

export function success(said: CodedMessage): Outcome {
  return { delivered: true, httpStatus: null, retryAfter: null, message: textOf(said), said, answer: '', request: null }
}
