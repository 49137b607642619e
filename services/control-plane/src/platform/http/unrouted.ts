import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { App } from './app-type.js'
import { NO_SUCH_PATH } from './error-answers.js'
import { sendRefusal } from './refusal.js'

/** No path supports the last one. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Records each path while features register. The returned function, called after them, adds routes that return 405 for the methods that a path
 * lacks. They are regular routes, so gates apply to them too. `answersOptions` tells whether a hook responds to preflights of a
 * path.
 */
export function trackPaths(app: App, answersOptions: (path: string) => boolean): () => void {
  // For a method that the router does not know, every path would return 404.
  app.server.prependListener('request', (request) => {
    if (!METHODS.some((method) => method === request.method)) request.method = 'TRACE'
  })
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url }) => void paths.add(url))
  return () => {
    // Most paths are those of files, without parameters. Comparing all pairs would take a tenth of the start.
    const patterns = [...paths].filter((path) => path.includes('/:')).map((path) => ({ path, parts: path.split('/') }))
    // All lists are complete before the first route is added.
    const answered = [...paths].map((path) => {
      const parts = path.split('/')
      const urls = [path, ...patterns.filter((pattern) => takes(pattern.parts, parts)).map((pattern) => pattern.path)]
      return { path, methods: METHODS.filter((method) => urls.some((url) => app.hasRoute({ url, method }))) }
    })
    for (const { path, methods } of answered) {
      refuseOtherMethods(app, path, methods, answersOptions(path) ? [...methods, 'OPTIONS'] : methods)
    }
  }
}

/** True if requests for a path reach a route, whose segments may be parameters: `/sources/:code` matches `/sources/try`. */
function takes(route: readonly string[], path: readonly string[]): boolean {
  return route.length === path.length && route.every((part, i) => part.startsWith(':') || part === path[i])
}

/** @param methods of the path, and of matching paths with parameters, which must not be hidden @param answered methods that hooks handle */
function refuseOtherMethods(app: App, url: string, methods: readonly string[], answered: readonly string[]): void {
  const missing = METHODS.filter((method) => !methods.includes(method))
  if (missing.length === 0) return
  const allow = answered.join(', ')
  app.route({
    method: missing,
    url,
    config: { allow },
    schema: { hide: true },
    // Before the body is read, since it has no meaning for a method that does not exist.
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
    /** for a route that refuses methods: those that its path supports */
    allow?: string
  }
}
