import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { App } from './app-type.js'
import { NO_SUCH_PATH } from './error-answers.js'
import { sendRefusal } from './refusal.js'

/** The last is one that no path answers. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Notes each path while features register; the function that it answers, called after them, gives every path the methods that it lacks,
 * as routes that answer 405. They are routes like all others, so that gates hold for them too. `answersOptions`: of paths whose preflights a hook
 * answers.
 */
export function trackPaths(app: App, answersOptions: (path: string) => boolean): () => void {
  // What the router has never heard of would be 404 on every path.
  app.server.prependListener('request', (request) => {
    if (!METHODS.some((method) => method === request.method)) request.method = 'TRACE'
  })
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url }) => void paths.add(url))
  return () => {
    // Most paths are those of files, without parameters: to compare each with each would take a tenth of the start.
    const patterns = [...paths].filter((path) => path.includes('/:'))
    // All of them before the first is added.
    const answered = [...paths].map((path) => {
      const urls = [path, ...patterns.filter((pattern) => takes(pattern, path))]
      return { path, methods: METHODS.filter((method) => urls.some((url) => app.hasRoute({ url, method }))) }
    })
    for (const { path, methods } of answered) {
      refuseOtherMethods(app, path, methods, answersOptions(path) ? [...methods, 'OPTIONS'] : methods)
    }
  }
}

/** Whether requests for the path `path` reach the routes of `route`, of whose segments some are parameters: `/sources/:code` takes `/sources/try`. */
function takes(route: string, path: string): boolean {
  const [own, others] = [route.split('/'), path.split('/')]
  return own.length === others.length && own.every((part, i) => part.startsWith(':') || part === others[i])
}

/** `methods`: those of the path, and of those with parameters that take it too, which must not be hidden; `answered`: hooks' beside them. */
function refuseOtherMethods(app: App, url: string, methods: readonly string[], answered: readonly string[]): void {
  const missing = METHODS.filter((method) => !methods.includes(method))
  if (missing.length === 0) return
  const allow = answered.join(', ')
  app.route({
    method: missing,
    url,
    config: { allow },
    schema: { hide: true },
    // Before the body is read: of a method that does not exist no body matters.
    onRequest: (_request, reply) => {
      sendRefusal(reply.header('Allow', allow), refuse('method_not_allowed', coded('method_not_allowed', { allow })))
    },
    handler: () => {},
  })
}

export function registerNotFound(app: App): void {
  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, NO_SUCH_PATH))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** of a route that refuses its methods: those that its path answers */
    allow?: string
  }
}
