import type { Socket } from 'node:net'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import Fastify, { LogController } from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import { hasOpenCors } from './catalog/listing/cors.js'
import { registerFeatures } from './features.js'
import { callerFinder } from './platform/admin-gate/caller.js'
import { registerAdminGate } from './platform/admin-gate/gate.js'
import type { ControlContext } from './platform/context.js'
import { registerAnswerInTime, TIME_LIMITS } from './platform/http/answer-in-time.js'
import type { App } from './platform/http/app-type.js'
import { registerBodyRules } from './platform/http/body-rules.js'
import { registerBoundedLists } from './platform/http/bounded-lists.js'
import { closePromptly } from './platform/http/closing.js'
import { registerCompression } from './platform/http/compression.js'
import { answerClientError, answerFrameworkError, registerErrorAnswers } from './platform/http/error-answers.js'
import { ambiguousFraming, pathOfTarget, unboundedHead } from './platform/http/framing.js'
import { endIdleConnections } from './platform/http/idle-connections.js'
import { registerInputValidation } from './platform/http/input-validation.js'
import { registerBodyParsers } from './platform/http/json-body.js'
import { sendRefusal } from './platform/http/refusal.js'
import { registerRequestLog } from './platform/http/request-log.js'
import { registerRequestTrace } from './platform/http/request-trace.js'
import { registerSecurityHeaders } from './platform/http/security-headers.js'
import { HEADERS_TIMEOUT_MS, SERVER_LIMITS } from './platform/http/server-options.js'
import { registerNotFound, trackPaths } from './platform/http/unrouted.js'

/** Builds the control plane's HTTP application. It does not listen; needs a migrated store. */
export async function buildApp(ctx: ControlContext): Promise<App> {
  const { edgeLink } = await readInstanceKeys(ctx.sql)
  const app = createApp(ctx)
  registerErrorAnswers(app)
  registerNotFound(app)
  registerBodyParsers(app)
  registerInputValidation(app)
  registerRequestTrace(app, ctx)
  registerRequestLog(app, ctx)
  // A disable waits for edges for TOKEN_STALE_SECONDS.
  registerAnswerInTime(app, { ...TIME_LIMITS, answer: TIME_LIMITS.answer + ctx.settings.tokenStaleSeconds * 1000 })
  registerBodyRules(app)
  await registerSecurityHeaders(app, ctx)
  await registerCompression(app)
  registerBoundedLists(app)
  closePromptly(app, ctx.notice)
  endIdleConnections(app, ctx.settings.keepAliveSeconds * 1000 + HEADERS_TIMEOUT_MS)
  refuseAmbiguousFraming(app)
  const findCaller = callerFinder(edgeLink, ctx.settings.trustedProxies)
  const adminGate = registerAdminGate(app, ctx, findCaller)
  const refuseOtherMethods = trackPaths(app, hasOpenCors)
  await registerFeatures(app, ctx, findCaller, adminGate)
  refuseOtherMethods()
  await app.ready()
  return app
}

function createApp(ctx: ControlContext): App {
  const app = Fastify({
    ...SERVER_LIMITS,
    keepAliveTimeout: ctx.settings.keepAliveSeconds * 1000,
    loggerInstance: ctx.log,
    // Fastify would log every request twice; request-log.ts logs what is worth a line.
    logController: new LogController({ disableRequestLogging: true }),
    // The gate judges the peer itself; Fastify's own notion of a trusted proxy is not used.
    trustProxy: false,
    // Requests that arrive during the drain get a normal response, as the last one of their connection.
    return503OnClosing: false,
    // Idle connections are closed at shutdown, busy ones may finish.
    forceCloseConnections: 'idle',
    rewriteUrl: pathOfTarget,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  }) as unknown as App
  app.setSerializerCompiler(serializerCompiler)
  return app
}

function refuseAmbiguousFraming(app: App): void {
  // Node would close the connection without a response.
  app.server.on('connect', (_request, socket: Socket) => answerClientError(new Error('CONNECT'), socket))
  // An unknown expectation is ignored (RFC 9110, 10.1.1); Node would answer it without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.addHook('onRequest', async (request, reply) => {
    const refusal = ambiguousFraming(request.raw) ?? unboundedHead(request.raw)
    // The rest of this connection may belong to the same attack.
    if (refusal !== null) return sendRefusal(reply.header('Connection', 'close'), refusal)
  })
}
