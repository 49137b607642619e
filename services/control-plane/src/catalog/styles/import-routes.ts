import { codeSchema } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { type AdminStyle, adminStyleSchema } from '@gateway/contracts/style.js'
import { warningOf, warningsField, withWarnings } from '@gateway/contracts/warning.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { CREATES_ONLY, createsOnly } from '../../platform/http/creates-only.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { type ImportForm, importStyle } from './import-style.js'

/** Maximum number of concurrent imports. Each writes the disk as fast as it can. */
const MAX_IMPORTS = 2

const FORMS: Readonly<Record<string, ImportForm>> = {
  'application/zip': 'zip',
  'application/x-zip-compressed': 'zip',
  'application/json': 'json',
}

/** Routes that receive styles, in addition to those that scans find. */
export async function styleImportRoute(
  app: App,
  ctx: ControlContext,
  describe: (style: StoredStyle) => Promise<AdminStyle>,
): Promise<void> {
  await app.register(async (scope) => {
    // The route itself reads the body as a stream.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(Object.keys(FORMS), (_request, _payload, done) => done(null))
    addRoute(scope as unknown as App, ctx, describe)
  })
}

function addRoute(app: App, ctx: ControlContext, describe: (style: StoredStyle) => Promise<AdminStyle>): void {
  let imports = 0
  app.post(
    '/api/v1/admin/styles/import',
    {
      config: { mayTakeLong: true, readsOwnBody: true },
      schema: {
        operationId: 'importStyle',
        summary: 'Import a style document, or a zip with its sprites and fonts',
        description:
          'The body is a style document (`application/json`) or a zip (`application/zip`) that is laid out like the folder of a style: ' +
          '`style.json`, sprites (`{name}.json`, `{name}.png`, `{name}@2x`), folders of SVG files, `fonts/{Font Name}/`, and data files. All ' +
          'of it may lie in one folder, whose name is the code if `code` is omitted. The style must be valid; otherwise the request returns ' +
          '400 and names the lines. Addresses of this gateway, as an editor saves them, become `gateway://` addresses without a token. A zip ' +
          'replaces everything that was imported under that code; a style document replaces only the document. The files are kept in the scan ' +
          'source `imports-styles` below DATA_DIR. A code that another scan source owns returns 409. IMPORT_MAX_BYTES limits the packed and ' +
          'the unpacked size of a zip (413). A font or drawing that cannot be used is a warning. An import that fails leaves nothing, and what it would ' +
          `have replaced stays. ${CREATES_ONLY}`,
        querystring: z.strictObject({
          code: codeSchema.optional().describe('code of the style; required for a style document'),
        }),
        response: {
          200: adminStyleSchema.extend({ files: z.int().min(1).describe('number of stored files'), ...warningsField }),
        },
      },
      onRequest: async (request, reply) => {
        if (formOf(request.headers['content-type']) === undefined)
          return sendRefusal(
            reply.header('Connection', 'close'),
            refuse('unsupported_media_type', coded('body_not_style')),
          )
      },
    },
    async (request, reply) => {
      const close = () => reply.header('Connection', 'close')
      if (imports >= MAX_IMPORTS)
        return sendRefusal(
          close().header('Retry-After', '30'),
          refuse('too_many_requests', coded('imports_in_progress')),
        )
      imports++
      try {
        const form = formOf(request.headers['content-type']) as ImportForm
        const outcome = await importStyle(ctx, request.raw, form, request.query.code, createsOnly(request))
        if (!outcome.ok) return sendRefusal(close(), outcome)
        const { style, files, warnings } = outcome
        const detail = { name: style.name, files, revision: style.revision }
        await ctx.sql.begin((tx) =>
          insertAudit(tx, { ...request.admin, action: 'style.import', subject: style.code, detail }),
        )
        return withWarnings({ ...(await describe(style)), files }, warnings.map(warningOf))
      } finally {
        imports--
      }
    },
  )
}

function formOf(contentType: string | undefined): ImportForm | undefined {
  return FORMS[contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '']
}
