import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Attempts } from '../../platform/admin-gate/attempts.js'
import type { FindCaller } from '../../platform/admin-gate/caller.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { type Admitted, admitImport, guessOf } from './credential.js'
import { runImport } from './import.js'

/** Maximum number of concurrent imports. Each reads and writes the disk as fast as it can. */
const MAX_IMPORTS = 4

/** Interval of 102 (Processing) during an import, since senders count 30 s of silence as a failure. */
const PROCESSING_EVERY_MS = 5_000

const TOO_MANY_GUESSES = refuse('too_many_requests', coded('import_too_many_guesses'))

const resultSchema = z.object({
  event: z.string(),
  code: z.string().nullable().describe('the code under which it is served here; null for `target.test`'),
  version: z.string().nullable().describe('null for vectors'),
  files: z.int(),
  bytes: z.int().describe('unpacked'),
})

/** The receiver of pushes from another gateway. It has a separate credential, and is off until that is configured. */
export async function importRoutes(app: App, ctx: ControlContext, findCaller: FindCaller): Promise<void> {
  await app.register(async (scope) => {
    // The route itself reads the body as a stream.
    scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
    addRoute(scope as unknown as App, ctx, findCaller)
  })
}

function addRoute(app: App, ctx: ControlContext, findCaller: FindCaller): void {
  const { importToken, importMaxBytes } = ctx.settings
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const callers = new WeakMap<FastifyRequest, string>()
  const attempts = new Attempts(ctx.now)
  let imports = 0
  app.post(
    '/api/v1/import',
    {
      config: { mayTakeLong: true, readsOwnBody: true },
      schema: {
        operationId: 'importArchive',
        summary: 'Import a basemap version or a vector from another gateway',
        description:
          'Receives the pushes of a target of kind `http` and mode `upload`. The `url` of that target is this address, and its `secret` is the ' +
          'IMPORT_TOKEN of this gateway. Without IMPORT_TOKEN the endpoint is off (404). A client may also send `Authorization: Bearer ' +
          '<IMPORT_TOKEN>`. The body is multipart/form-data with the part `event`, as pushes send it, then the part `archive`. The archive is ' +
          'a zip laid out like a scan source, and holds nothing else: `{code}/{version}/{z}/{x}/{y}.{ext}`, `{code}/{version}.mbtiles` or ' +
          '`.pmtiles`, or the files of the vector under its relative path. IMPORT_MAX_BYTES limits the packed and the unpacked size (413). A ' +
          'signed body must carry `webhook-proof`, the signature of the empty body under the same id and timestamp; the gateway checks it ' +
          'before it reads the body. `webhook-timestamp` may be 5 minutes off. A complete, well-formed upload that can be served replaces an ' +
          'earlier import of the same code and version. It is stored in the scan sources `imports` and `imports-vectors` below DATA_DIR. A ' +
          'basemap code that another scan source owns returns 409. Wrong credentials are throttled like those of administrators (429). Send ' +
          'large uploads to the control plane directly: while it unpacks, it sends 102 (Processing), which proxies tend to drop.',
        response: { 200: resultSchema },
      },
      onRequest: async (request, reply) => {
        if (importToken === null) return refuseEarly(reply, refuse('not_found', coded('imports_off')))
        const caller = findCaller({ peer: request.socket.remoteAddress ?? '', headers: request.headers })
        const pause = attempts.pauseMs(caller.address)
        const verdict = pause > 0 ? TOO_MANY_GUESSES : admitImport(request.headers, importToken, ctx.now())
        if (!verdict.ok) {
          ctx.metrics.authFailures.inc({ kind: 'import', reason: verdict.code })
          if (pause > 0) return refuseEarly(reply.header('Retry-After', String(Math.ceil(pause / 1000))), verdict)
          const guess = guessOf(request.headers)
          if (guess !== null && verdict.code === 'token_unknown') {
            attempts.noteWrong(caller.address, caller.loopback, guess)
            noteTrouble(ctx.log, 'import credentials are wrong', { address: caller.address })
          }
          return refuseEarly(reply.header('WWW-Authenticate', 'Bearer realm="import"'), verdict)
        }
        attempts.noteRight(caller.address)
        callers.set(request, caller.address)
        if (Number(request.headers['content-length'] ?? 0) > importMaxBytes) {
          return refuseEarly(reply, refuse('payload_too_large', coded('body_larger_than', { limit: importMaxBytes })))
        }
        if (!request.headers['content-type']?.startsWith('multipart/form-data')) {
          return refuseEarly(reply, refuse('unsupported_media_type', coded('body_not_multipart')))
        }
        admitted.set(request, verdict)
      },
    },
    async (request, reply) => {
      if (imports >= MAX_IMPORTS) {
        return refuseEarly(reply.header('Retry-After', '30'), refuse('too_many_requests', coded('imports_in_progress')))
      }
      imports++
      const stop = sendProcessing(reply)
      try {
        const verdict = admitted.get(request) as Admitted
        const outcome = await runImport(ctx, request.raw, callers.get(request) ?? '', verdict)
        return outcome.ok ? outcome.result : refuseEarly(reply, outcome)
      } finally {
        stop()
        imports--
      }
    },
  )
}

/** Closes the connection, since the unread rest of the body must not be read as the next request. */
function refuseEarly(reply: FastifyReply, refusal: Parameters<typeof sendRefusal>[1]): FastifyReply {
  return sendRefusal(reply.header('Connection', 'close'), refusal)
}

function sendProcessing(reply: FastifyReply): () => void {
  const timer = setInterval(() => {
    if (!reply.raw.headersSent && reply.raw.writable) reply.raw.writeProcessing()
  }, PROCESSING_EVERY_MS)
  return () => clearInterval(timer)
}
