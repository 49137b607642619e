import { refuse } from '@gateway/contracts/errors.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { type Admitted, admitImport } from './credential.js'
import { ReceivingTime } from './receiving-time.js'
import { takeIn } from './take-in.js'

/** At a time; each reads and writes the disk as fast as it can. */
const MAX_IMPORTS = 4

/** While it works on what it has, the service says so, since senders count 30 s without a sign of life as a failure. */
const SIGN_OF_LIFE_MS = 5_000

const resultSchema = z.object({
  event: z.string(),
  code: z.string().nullable().describe('the code under which it is served here; null for `target.test`'),
  version: z.string().nullable().describe('null for vectors'),
  files: z.int(),
  bytes: z.int().describe('unpacked'),
})

/** The far end of a push from another gateway. It has a credential of its own, and is off until that is configured. */
export async function importRoutes(app: App, ctx: ControlContext): Promise<void> {
  await app.register(async (scope) => {
    // The body is read as it comes, by the route itself.
    scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
    addRoute(scope as unknown as App, ctx)
  })
}

function addRoute(app: App, ctx: ControlContext): void {
  const { importToken, importMaxBytes } = ctx.settings
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const receivingTime = new ReceivingTime(app.server)
  let imports = 0
  app.post(
    '/api/v1/import',
    {
      config: { mayTakeLong: true },
      schema: {
        summary: 'Take in a basemap version or a vector from another gateway',
        description:
          'The receiving end of a target of kind `http` and mode `upload` whose `url` is this address and whose `secret` is this gateway’s ' +
          'IMPORT_TOKEN; without IMPORT_TOKEN it is off (404). Or `Authorization: Bearer <IMPORT_TOKEN>`. The body is multipart/form-data ' +
          'with the part `event`, as pushes send it, then the part `archive`, a zip laid out like a scan source: ' +
          '`{code}/{version}/{z}/{x}/{y}.{ext}`, `{code}/{version}.mbtiles` or `.pmtiles`, or the vector’s files under its relative path, and ' +
          'nothing else. Packed and unpacked it may have IMPORT_MAX_BYTES (413). A signed body must carry `webhook-proof`, the signature of ' +
          'the empty body under the same id and timestamp, by which it is admitted before it is read; its `webhook-timestamp` may be 5 ' +
          'minutes off. What arrives whole, well-formed and fit to be served replaces what was imported before under the same code and ' +
          'version; it lies in the scan sources `imports` and `imports-vectors` below DATA_DIR. A basemap code that another scan source ' +
          'owns is 409. Large uploads should be sent to the control plane directly: while it unpacks it says 102 (Processing), which proxies ' +
          'tend to swallow.',
        response: { 200: resultSchema },
      },
      onRequest: async (request, reply) => {
        if (importToken === null)
          return refuseEarly(reply, refuse('not_found', 'imports are off: IMPORT_TOKEN is not set'))
        const verdict = admitImport(request.headers, importToken, ctx.now())
        if (!verdict.ok) {
          ctx.metrics.authFailures.inc({ kind: 'import', reason: verdict.code })
          return refuseEarly(reply.header('WWW-Authenticate', 'Bearer realm="import"'), verdict)
        }
        if (Number(request.headers['content-length'] ?? 0) > importMaxBytes) {
          return refuseEarly(reply, refuse('payload_too_large', `the body is larger than ${importMaxBytes} bytes`))
        }
        if (!request.headers['content-type']?.startsWith('multipart/form-data')) {
          return refuseEarly(reply, refuse('unsupported_media_type', 'the body must be multipart/form-data'))
        }
        admitted.set(request, verdict)
      },
    },
    async (request, reply) => {
      if (imports >= MAX_IMPORTS) {
        return refuseEarly(
          reply.header('Retry-After', '30'),
          refuse('too_many_requests', 'other imports are under way'),
        )
      }
      imports++
      const stop = signOfLife(reply)
      try {
        const verdict = admitted.get(request) as Admitted
        const outcome = await takeIn(ctx, request.raw, verdict, (work) => receivingTime.suspended(work))
        return outcome.ok ? outcome.result : refuseEarly(reply, outcome)
      } finally {
        stop()
        imports--
      }
    },
  )
}

/** Of a body that is not read to its end nothing must be taken for the next request. */
function refuseEarly(reply: FastifyReply, refusal: Parameters<typeof sendRefusal>[1]): FastifyReply {
  return sendRefusal(reply.header('Connection', 'close'), refusal)
}

function signOfLife(reply: FastifyReply): () => void {
  const timer = setInterval(() => {
    if (!reply.raw.headersSent && reply.raw.writable) reply.raw.writeProcessing()
  }, SIGN_OF_LIFE_MS)
  return () => clearInterval(timer)
}
