import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import Fastify, { LogController } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { registerAdminGate } from './admin-gate/gate.js'
import type { ControlContext } from './context.js'
import { registerFeatures } from './features.js'
import { registerAnswerInTime } from './http/answer-in-time.js'
import type { App } from './http/app-type.js'
import { closePromptly } from './http/closing.js'
import { answerClientError, answerFrameworkError, registerErrorAnswers } from './http/error-answers.js'
import { ambiguousFraming } from './http/framing.js'
import { registerBodyParsers } from './http/json-body.js'
import { sendRefusal } from './http/refusal.js'
import { registerRequestLog } from './http/request-log.js'
import { registerSecurityHeaders } from './http/security-headers.js'
import { SERVER_LIMITS } from './http/server-options.js'
import { registerNotFound, trackPaths } from './http/unrouted.js'

/** Builds the control plane's HTTP application. It does not listen; needs a migrated store. */
export async function buildApp(ctx: ControlContext): Promise<App> {
  const { edgeLink } = await readInstanceKeys(ctx.sql)
  const app = createApp(ctx)
  registerErrorAnswers(app)
  registerNotFound(app)
  registerBodyParsers(app)
  registerRequestLog(app, ctx)
  registerAnswerInTime(app)
  await registerSecurityHeaders(app, ctx)
  closePromptly(app)
  refuseAmbiguousFraming(app)
  registerAdminGate(app, ctx, edgeLink)
  const refuseOtherMethods = trackPaths(app)
  await registerFeatures(app, ctx)
  refuseOtherMethods()
  await app.ready()
  return app
}

function createApp(ctx: ControlContext): App {
  const app = Fastify({
    ...SERVER_LIMITS,
    loggerInstance: ctx.log,
    // Fastify would log every request twice; request-log.ts logs what is worth a line.
    logController: new LogController({ disableRequestLogging: true }),
    // The gate judges the peer itself; Fastify's own notion of a trusted proxy is not used.
    trustProxy: false,
    // What arrives while the process drains is answered like all else, as the last of its connection.
    return503OnClosing: false,
    // Idle connections are closed at shutdown, busy ones may finish.
    forceCloseConnections: 'idle',
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  }) as unknown as App
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  return app
}

function refuseAmbiguousFraming(app: App): void {
  // An expectation that nobody here knows is ignored (RFC 9110, 10.1.1); Node would answer it without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.addHook('onRequest', async (request, reply) => {
    const refusal = ambiguousFraming(request.raw)
    // Whatever follows on this connection may be the tail of the same trick.
    if (refusal !== null) return sendRefusal(reply.header('Connection', 'close'), refusal)
  })
}
