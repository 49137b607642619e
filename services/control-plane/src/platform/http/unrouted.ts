import { refuse } from '@gateway/contracts/errors.js'
import type { App } from './app-type.js'
import { NO_SUCH_PATH } from './error-answers.js'
import { sendRefusal } from './refusal.js'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Notes each path while features register; the function that it answers, called after them, gives every path the methods that it lacks,
 * as routes that answer 405. They are routes like all others, so that gates hold for them too.
 */
export function trackPaths(app: App): () => void {
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url }) => void paths.add(url))
  return () => {
    for (const path of [...paths]) refuseOtherMethods(app, path)
  }
}

function refuseOtherMethods(app: App, url: string): void {
  const missing = METHODS.filter((method) => !app.hasRoute({ url, method }))
  if (missing.length === 0) return
  const allow = METHODS.filter((method) => !missing.includes(method)).join(', ')
  app.route({
    method: missing,
    url,
    schema: { hide: true },
    // Before the body is read: of a method that does not exist no body matters.
    onRequest: (_request, reply) => {
      sendRefusal(reply.header('Allow', allow), refuse('method_not_allowed', `this address answers ${allow}`))
    },
    handler: () => {},
  })
}

export function registerNotFound(app: App): void {
  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, NO_SUCH_PATH))
}
