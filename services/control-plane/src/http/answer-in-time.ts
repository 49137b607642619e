import { refuse } from '@gateway/contracts/errors.js'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Well above what any answer takes that does not take long by its nature, and less than callers usually wait. */
const ANSWER_WITHIN_MS = 10_000

const TOO_LATE = refuse('dependency_down', 'the store does not answer in time; try again')

/**
 * Answers 503 where a handler does not come to an answer. A store that refuses connections fails its queries at once; one that is frozen, or
 * behind a network that swallows packets, leaves them open, and the client library has no time-out for them.
 */
export function registerAnswerInTime(app: App, withinMs = ANSWER_WITHIN_MS): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.mayTakeLong) return
    const timer = setInterval(() => {
      // A body that is still arriving has its own limit.
      if (request.raw.complete === false) return
      clearInterval(timer)
      if (!reply.sent && !reply.raw.headersSent) sendRefusal(reply, TOO_LATE)
    }, withinMs)
    reply.raw.once('close', () => clearInterval(timer))
  })
}
