import { listOf } from '@gateway/contracts/common.js'
import { disabledTokenSchema } from '@gateway/contracts/edge.js'
import { issuedTokenSchema, tokenBodySchema, tokenSchema } from '@gateway/contracts/token.js'
import { listTokens } from '@gateway/store/tokens.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { KnownEdges } from '../edges/known-edges.js'
import type { App } from '../http/app-type.js'
import { pageQuery } from '../http/page-query.js'
import { sendRefusal } from '../http/refusal.js'
import { disableToken } from './disable.js'
import { issueToken } from './issue.js'

export function tokenRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.get(
    '/api/v1/admin/tokens',
    {
      schema: {
        summary: 'Service tokens, newest first',
        description:
          'With the prefix of each; the plaintext is never listed. `total` counts all tokens, whatever the page.',
        querystring: pageQuery,
        response: { 200: listOf(tokenSchema) },
      },
    },
    ({ query }) => listTokens(ctx.sql, query),
  )
  app.post(
    '/api/v1/admin/tokens',
    {
      schema: {
        summary: 'Issue a service token',
        description:
          'The only answer that ever carries the plaintext `token`. An empty or missing list of codes grants nothing; the entry `*` ' +
          'grants all, present and future. Codes need not exist yet. `expires_at` in the past is accepted: the token is expired at once.',
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
      // Waits for edges, at most TOKEN_STALE_SECONDS.
      config: { mayTakeLong: true },
      schema: {
        summary: 'Disable a service token',
        description:
          'Answers once every edge process that is known to live refuses the token, at the latest after TOKEN_STALE_SECONDS. `confirmed` ' +
          'and `pending` name the edge processes that have and have not confirmed; a pending one is cut off from the bus and refuses the ' +
          'token within TOKEN_STALE_SECONDS. With the bus out of reach nobody can confirm, and `pending` names the edges last known. ' +
          'Disabling again is no error.',
        params: z.object({ id: z.string() }),
        response: { 200: disabledTokenSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await disableToken(ctx, edges, params.id, admin)
      return outcome.ok ? outcome.disabled : sendRefusal(reply, outcome)
    },
  )
}
