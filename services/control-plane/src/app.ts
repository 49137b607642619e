import type { IncomingMessage, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import { clipped } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
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
import { answerClientError, answerFrameworkError, registerErrorAnswers } from './platform/http/error-answers.js'
import { ambiguousFraming, pathOfTarget, unboundedHead } from './platform/http/framing.js'
import { endIdleConnections } from './platform/http/idle-connections.js'
import { registerInputValidation } from './platform/http/input-validation.js'
import { registerBodyParsers } from './platform/http/json-body.js'
import { sendRefusal } from './platform/http/refusal.js'
import { registerRequestTrace } from './platform/http/request-trace.js'
import { registerSecurityHeaders } from './platform/http/security-headers.js'
import { registerNotFound, trackPaths } from './platform/http/unrouted.js'

/** Bodies are JSON documents of configuration size. decisions.md: larger ones return 413. */
const BODY_LIMIT_BYTES = 1024 * 1024

/** Request line and headers together: enough for a long path and a few tokens, and too little for a memory attack. */
const MAX_HEADER_BYTES = 16 * 1024

/** A code may have 200 characters of up to 4 bytes, each byte written as %XX. */
const MAX_PARAM_LENGTH = 200 * 4 * 3

/** A client that has not sent its headers by then holds the connection on purpose. body-rules.ts limits bodies, since an import may take longer. */
const HEADERS_TIMEOUT_MS = 10_000

const httpOptions: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  // idle-connections.ts has this limit.
  headersTimeout: 0,
  // Node would refuse a request without Host in its own form; framing.ts does it in ours.
  requireHostHeader: false,
}

/** The limits of the listener. A response may take long (a scan), so only receiving is timed. */
const SERVER_LIMITS = {
  bodyLimit: BODY_LIMIT_BYTES,
  requestTimeout: 0,
  routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  http: httpOptions,
} as const

/** Time above which a response is logged as slow. */
const SLOW_MS = 1000

/** Counts every response, and logs failures and slow responses; the others only at debug level. */
function registerRequestLog(app: App, { metrics, log }: ControlContext): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const ms = reply.elapsedTime
    metrics.requests.inc({ method, route, status: reply.statusCode })
    metrics.requestSeconds.observe({ method, route }, ms / 1000)
    const about = { method, url: clipped(request.url), status: reply.statusCode, ms: Math.round(ms) }
    const { isProbe, mayTakeLong } = request.routeOptions.config
    // The same cause makes every request fail or wait, so not each one gets a line.
    if (reply.statusCode >= 500 && !isProbe) {
      noteTrouble(log, `requests are answered ${reply.statusCode}`, { ...about, err: request.trouble?.message })
    } else if (reply.statusCode !== 503 && ms > SLOW_MS && !mayTakeLong) {
      noteTrouble(log, 'requests are answered slowly', about)
    } else request.log.debug(about, 'request')
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** true if responses of this route take long (a stream of events, a scan): they are not logged as slow */
    mayTakeLong?: boolean
    /** true if a 503 is a regular response of this route */
    isProbe?: boolean
  }
}

/** Minimum bytes; for less, the additional header costs as much as compression saves. */
const WORTHWHILE = 1024

/** The API, and the console's page with the data that it reads first; its other files are compressed by the build. */
const COMPRESSED = /^\/api\/|^\/admin\/\*?$/

/**
 * Compresses JSON of the API and the console's page for clients that accept it, before all routes. Only responses to GET are compressed: plaintexts
 * of tokens are returned only to POST, so that the length of a response does not reveal one (BREACH). Streams of events, logs and metrics have other
 * types and are sent as they are written.
 */
async function registerCompression(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !COMPRESSED.test(route.url)) route.compress = false
  })
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['br', 'gzip'],
    customTypes: /^(?:application\/(?:vnd\.oai\.openapi\+)?json|text\/html)\b/,
    threshold: WORTHWHILE,
    // About as fast as gzip, with a smaller result.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  })
}

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
  const idleMs = ctx.settings.keepAliveSeconds * 1000 + HEADERS_TIMEOUT_MS
  endIdleConnections(app, { firstHeadMs: HEADERS_TIMEOUT_MS, idleMs })
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
    // Fastify would log every request twice; `registerRequestLog` logs what is worth a line.
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

/**
 * Makes the application close promptly. From the notice on, every response is the last one of its connection. On close, connections without any
 * request are closed: clients open them in advance, Node counts them as busy, and closing would wait for them.
 */
function closePromptly(app: App, notice: AbortSignal): void {
  const silent = new Set<Socket>()
  let closing = false
  app.server.on('connection', (socket: Socket) => {
    if (closing) return void socket.destroy()
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  app.addHook('onRequest', async (_request, reply) => {
    if (notice.aborted) reply.header('Connection', 'close')
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const socket of silent) socket.destroy()
  })
}
