import { listOf } from '@gateway/contracts/common.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { type AdminStyle, adminStyleSchema, stylePatchBodySchema } from '@gateway/contracts/style.js'
import { insertAudit } from '@gateway/store/audit.js'
import { FOUND_BY_SCAN, flag, listQuery, text } from '@gateway/store/catalog/list-query.js'
import { toAdminStyle } from '@gateway/store/catalog/style.js'
import type { Transaction } from '@gateway/store/connect.js'
import { setWithdrawn } from '@gateway/store/sql.js'
import { findStyleCodes, listStyles, readStyle, STYLE_LISTING, type StoredStyle } from '@gateway/store/styles.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_STYLE, sendRefusal } from '../../platform/http/refusal.js'
import { bulkCatalogRoute } from '../edit/bulk.js'
import { forgetRecord } from '../edit/forget.js'
import { byCode, type CatalogChange, CONFIRMED, commitItem, WITHDRAWN } from '../edit/route-parts.js'
import { styleDocumentRoute } from './document-route.js'
import { styleImportRoute } from './import-routes.js'
import { readAvailableParts, styleProblems } from './problems.js'

const STYLES_QUERY = listQuery(STYLE_LISTING, {
  source_code: text,
  available: flag,
  withdrawn: flag,
  source_enabled: flag,
  scan: FOUND_BY_SCAN,
})
const SEEN = 'withdrawn, unavailable, or of a disabled scan source'

/** Routes for administrators to read and change styles. */
export async function styleRoutes(app: App, ctx: ControlContext, edges: KnownEdges): Promise<void> {
  const { sql, settings } = ctx
  bulkCatalogRoute(app, ctx, edges, {
    path: 'styles',
    operationId: 'changeStyles',
    query: STYLES_QUERY,
    find: (filter, most) => findStyleCodes(sql, filter, most),
    update: updateStyle,
  })
  const answered = async (styles: readonly StoredStyle[]) => {
    const available = await readAvailableParts(sql)
    return styles.map((style) => toAdminStyle(style, settings.tilePublicBaseUrl, styleProblems(style, available)))
  }
  styleDocumentRoute(app, ctx)
  const answeredOne = async (style: StoredStyle) => (await answered([style]))[0] as AdminStyle
  await styleImportRoute(app, ctx, answeredOne)
  app.get(
    '/api/v1/admin/styles',
    {
      schema: {
        operationId: 'listAdminStyles',
        summary: 'List styles',
        description: `Includes styles that readers do not see: ${SEEN}. \`problems\` names missing sources, fonts and icons.`,
        querystring: STYLES_QUERY,
        response: { 200: listOf(adminStyleSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listStyles(sql, query)
      return { items: await answered(items), total }
    },
  )
  app.get(
    '/api/v1/admin/styles/:code',
    {
      schema: {
        operationId: 'getAdminStyle',
        summary: 'Get a style',
        description: `Includes styles that readers do not see: ${SEEN}.`,
        params: byCode,
        response: { 200: adminStyleSchema },
      },
    },
    async ({ params }, reply) => {
      const style = await readStyle(sql, params.code)
      return style === null ? sendRefusal(reply, NO_SUCH_STYLE) : answeredOne(style)
    },
  )
  app.patch(
    '/api/v1/admin/styles/:code',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'updateStyle',
        summary: 'Withdraw or restore a style',
        description: `${WITHDRAWN} The sprites and files of the style are withdrawn with it; basemaps, vectors and fonts stay. ${CONFIRMED}`,
        params: byCode,
        body: stylePatchBodySchema,
        response: { 200: adminStyleSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code }, body: { withdrawn }, admin }, reply) => {
      const change = (tx: Transaction) => updateStyle(tx, code, { withdrawn }, admin)
      const outcome = await commitItem(ctx, edges, change, (tx) => readStyle(tx, code), answeredOne)
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
  app.delete(
    '/api/v1/admin/styles/:code',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'deleteStyle',
        summary: 'Forget a style',
        description: `Deletes the record and keeps the files. If a scan finds the style again, it comes back and is not withdrawn. ${CONFIRMED}`,
        params: byCode,
        response: {
          200: z.object({ ...acknowledgementFields, files: z.int().min(0).describe('always 0: files are kept') }),
        },
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await forgetRecord(ctx, edges, 'style', params.code, admin)
      return outcome.ok ? outcome : sendRefusal(reply, outcome)
    },
  )
}

/** Changes one style within a transaction, with its audit entry. */
async function updateStyle(
  tx: Transaction,
  code: string,
  { withdrawn }: { readonly withdrawn: boolean },
  admin: AdminIdentity,
): Promise<CatalogChange> {
  const before = await readStyle(tx, code)
  if (before === null) return NO_SUCH_STYLE
  await setWithdrawn(tx, 'styles', code, withdrawn)
  const detail = { name: before.name, before: { withdrawn: before.withdrawn }, after: { withdrawn } }
  await insertAudit(tx, { ...admin, action: withdrawn ? 'style.withdraw' : 'style.restore', subject: code, detail })
  return { ok: true, changes: [{ kind: 'style', key: code }] }
}
