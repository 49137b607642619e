import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { styleDocumentSchema } from '@gateway/contracts/style.js'
import { readStyle, readStyleDocuments } from '@gateway/store/styles.js'
import { rewriteStyle } from '@gateway/styles/rewrite.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_STYLE, sendRefusal } from '../../platform/http/refusal.js'
import { byCode } from '../edit/route-parts.js'

const NOT_KEPT = refuse('not_found', coded('style_revision_absent'))

/** Returns the documents of a style for previews and comparisons, including those of withdrawn styles and earlier revisions. */
export function styleDocumentRoute(app: App, { sql, settings }: ControlContext): void {
  const { tilePublicBaseUrl: tileBase, vectorPublicBaseUrl: vectorBase } = settings
  app.get(
    '/api/v1/admin/styles/:code/document',
    {
      schema: {
        operationId: 'getStyleWithRevisions',
        summary: 'Get the document of a style, of this revision or an earlier one',
        description:
          'The document has absolute addresses, as readers get it, but without a credential in them. The last 20 documents are kept.',
        params: byCode,
        querystring: z.strictObject({
          revision: z.coerce.number().int().min(1).optional().describe('default: the current one'),
        }),
        response: { 200: styleDocumentSchema },
      },
    },
    async ({ params: { code }, query }, reply) => {
      const style = await readStyle(sql, code)
      if (style === null) return sendRefusal(reply, NO_SUCH_STYLE)
      const kept = await readStyleDocuments(sql, code)
      const revision = query.revision ?? style.revision
      const shown = kept.find((one) => one.revision === revision)
      if (shown === undefined) return sendRefusal(reply, NOT_KEPT)
      const places = { code, tileBase, vectorBase, styleBase: tileBase, credential: '', fontRevision: '' }
      return {
        code,
        revision,
        revisions: kept.map((one) => ({ revision: one.revision, created_at: one.createdAt.toISOString() })),
        bases: [...new Set([tileBase, vectorBase])],
        document: { ...rewriteStyle(JSON.parse(shown.document), places) },
      }
    },
  )
}
