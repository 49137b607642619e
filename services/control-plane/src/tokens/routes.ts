import { listOf } from '@gateway/contracts/common.js'
import { confirmedTokenSchema } from '@gateway/contracts/edge.js'
import { issuedTokenSchema, SCOPES, TOKEN_KINDS, tokenBodySchema, tokenSchema } from '@gateway/contracts/token.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { listTokens, TOKEN_LISTING } from '@gateway/store/tokens.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { bulkTokensRoute } from './bulk.js'
import { disableToken } from './disable.js'
import { issueToken } from './issue.js'
import { previewLinkRoute } from './preview-link.js'
import { tokenRecordRoutes } from './record-routes.js'

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 }

const TOKENS_QUERY = listQuery(TOKEN_LISTING, {
  kind: z.enum(TOKEN_KINDS).describe('default: `service`; `preview`: tokens of preview links'),
  status: z.enum(['active', 'expired', 'disabled']),
  scope: z.enum(SCOPES),
  basemap_code: text.describe('granted by name, or with all'),
  vector_code: text.describe('granted by this name, or with all'),
  layer_code: text.describe('the token may slice this layer, by name or with all'),
  expires_after: z.iso.datetime({ offset: true }).describe('tokens that are valid beyond this time, or without end'),
  expires_within: z
    .string()
    .regex(/^[1-9]\d{0,5}[smhd]$/, 'must be a number with s, m, h or d: 14d')
    .transform((span) => Number.parseInt(span, 10) * SECONDS[span.at(-1) as keyof typeof SECONDS])
    .describe('active tokens that expire within this time from now: a number with `s`, `m`, `h` or `d`'),
})

export function tokenRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  tokenRecordRoutes(app, ctx, edges)
  previewLinkRoute(app, ctx)
  bulkTokensRoute(app, ctx, edges, TOKENS_QUERY)
  app.get(
    '/api/v1/admin/tokens',
    {
      schema: {
        operationId: 'listTokens',
        summary: 'List service tokens, newest first',
        description: 'Each has its prefix, but never the plaintext.',
        querystring: TOKENS_QUERY,
        response: { 200: listOf(tokenSchema) },
      },
    },
    ({ query }) => listTokens(ctx.sql, query),
  )
  app.post(
    '/api/v1/admin/tokens',
    {
      config: { ifUnknown: 'token_lost' },
      schema: {
        operationId: 'issueToken',
        summary: 'Issue a service token',
        description:
          'Only this response carries the plaintext `token`. An empty or missing list of codes grants nothing; the entry `*` grants all, ' +
          'present and future. `layer_codes`, which the scope `slice` needs, is `["*"]` if it is missing. Codes need not exist yet. An ' +
          '`expires_at` in the past is accepted, and the token is then expired at once.',
        body: tokenBodySchema,
        response: { 200: issuedTokenSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await issueToken(ctx, body, admin)
      return outcome.ok ? outcome.issued : sendRefusal(reply, outcome)
    },
  )
  app.post(
    '/api/v1/admin/tokens/:id/disable',
    {
      // Waits for edges, for at most TOKEN_STALE_SECONDS.
      config: { mayTakeLong: true },
      schema: {
        operationId: 'disableToken',
        summary: 'Disable a service token',
        description:
          'The response comes when every known live edge process refuses the token, at the latest after TOKEN_STALE_SECONDS. `confirmed` and ' +
          '`pending` name the edge processes that have and have not confirmed. A pending process is cut off from the bus and refuses the token ' +
          'within TOKEN_STALE_SECONDS. While the bus is unreachable, edges confirm through the store, as `path` says; `pending` then names the ' +
          'last known processes that have not confirmed there. A repeated call succeeds.',
        params: z.object({ id: z.string() }),
        response: { 200: confirmedTokenSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await disableToken(ctx, edges, params.id, admin)
      return outcome.ok ? outcome.answer : sendRefusal(reply, outcome)
    },
  )
}
