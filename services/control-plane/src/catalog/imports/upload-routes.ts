import type { Refusal } from '@gateway/contracts/errors.js'
import { uploadBodySchema, uploadedSchema, uploadSchema } from '@gateway/contracts/upload.js'
import { warningOf, withWarnings } from '@gateway/contracts/warning.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { Uploads } from './uploads.js'

const params = z.object({ id: z.uuid() })
const RESUMED = 'An upload that got no byte for a day is deleted.'

/** Files that an operator uploads, in parts, so that a large one continues where it was interrupted. */
export async function uploadRoutes(app: App, ctx: ControlContext): Promise<void> {
  const uploads = new Uploads(ctx)
  app.post(
    '/api/v1/admin/uploads',
    {
      schema: {
        operationId: 'beginUpload',
        summary: 'Begin an upload of a file',
        description: `Returns the id under which the parts are sent and the file is imported. ${RESUMED}`,
        response: { 201: uploadSchema },
      },
    },
    async (_request, reply) => {
      const id = await uploads.begin()
      return typeof id === 'string' ? reply.code(201).send({ id, received: 0 }) : sendRefusal(reply, id)
    },
  )
  app.get(
    '/api/v1/admin/uploads/:id',
    {
      schema: {
        operationId: 'getUpload',
        summary: 'Get how much of an upload was received',
        description: `A sender that was interrupted continues there. ${RESUMED}`,
        params,
        response: { 200: uploadSchema },
      },
    },
    async ({ params: { id } }, reply) => answer(reply, id, await uploads.received(id)),
  )
  app.delete(
    '/api/v1/admin/uploads/:id',
    {
      schema: {
        operationId: 'cancelUpload',
        summary: 'Delete an upload that was not imported',
        description: 'Deletes what was received of it. An unknown upload is no error.',
        params,
        response: { 200: uploadSchema },
      },
    },
    async ({ params: { id } }, reply) => {
      const refused = await uploads.cancel(id)
      return answer(reply, id, refused ?? 0)
    },
  )
  app.post(
    '/api/v1/admin/uploads/:id/import',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'importUpload',
        summary: 'Import an uploaded file into the catalog',
        description:
          'A basemap is an MBTiles, PMTiles or GeoPackage file or a COG (`.tif`). A vector is GeoJSON, GeoPackage, FlatGeobuf or a zip with one ' +
          'shapefile. A style is a document or a zip, as in `POST /styles/import`. The file is stored in the scan sources `imports`, ' +
          '`imports-vectors` and `imports-styles` below DATA_DIR, and replaces an earlier import of the same code and version. A file that ' +
          'cannot be served is refused and changes nothing; its upload stays, so that it can be imported under another code.',
        params,
        body: uploadBodySchema,
        response: { 200: uploadedSchema },
      },
    },
    async ({ params: { id }, body, admin }, reply) => {
      const outcome = await uploads.finish(id, body)
      if (!outcome.ok) return sendRefusal(reply, outcome)
      const { kind, bytes } = body
      const version = body.kind === 'basemap' ? body.version : null
      const detail = { kind, version, files: 1, bytes }
      await ctx.sql.begin((tx) => insertAudit(tx, { ...admin, action: 'import', subject: outcome.code, detail }))
      return withWarnings({ kind, code: outcome.code, version }, outcome.warnings.map(warningOf))
    },
  )
  await app.register(async (scope) => {
    // The route itself reads the body as a stream.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null))
    partRoute(scope as unknown as App, uploads)
  })
}

function partRoute(app: App, uploads: Uploads): void {
  app.put(
    '/api/v1/admin/uploads/:id/content',
    {
      config: { mayTakeLong: true, readsOwnBody: true },
      schema: {
        operationId: 'uploadPart',
        summary: 'Send the next part of an upload',
        description:
          'The body (`application/octet-stream`) is any number of bytes of the file from `offset` on, which must be what was received so far; ' +
          'otherwise the request returns 409. Bytes that arrived before an interruption count. IMPORT_MAX_BYTES limits the file (413).',
        params,
        querystring: z.strictObject({
          offset: z.coerce.number().int().min(0).describe('position of the first byte in the file'),
        }),
        response: { 200: uploadSchema },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const received = await uploads.append(id, request.query.offset, request.raw)
      if (typeof received !== 'number') reply.header('Connection', 'close')
      return answer(reply, id, received)
    },
  )
}

function answer(reply: FastifyReply, id: string, received: number | Refusal) {
  return typeof received === 'number' ? reply.send({ id, received }) : sendRefusal(reply, received)
}
