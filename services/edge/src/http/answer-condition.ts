import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { HeaderBlock } from '../answers/header-block.js'
import type { Validators } from '../files/conditional.js'
import { answerRefusal } from './refusals.js'
import type { RequestContext } from './request-context.js'

const FAILED = refuse('precondition_failed', coded('content_changed'))

/**
 * Answers a request whose condition decides the response: 412, or 304 with these headers. Returns false if the request
 * must be answered as if it had no condition.
 */
export function answerCondition(
  exchange: RequestContext,
  current: Validators,
  notModified: () => HeaderBlock,
): boolean {
  const judged = exchange.judgeConditions(current)
  if (judged === 'failed') answerRefusal(exchange, FAILED)
  else if (judged === 'not modified') exchange.answerEmpty('304 Not Modified', notModified())
  return judged !== 'none'
}
