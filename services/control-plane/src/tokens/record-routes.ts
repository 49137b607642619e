import { acknowledgementFields, changedTokenSchema, rotatedTokenSchema } from '@gateway/contracts/edge.js'
import { rotateBodySchema, tokenPatchSchema, tokenSchema } from '@gateway/contracts/token.js'
import { withWarnings } from '@gateway/contracts/warning.js'
import { readToken } from '@gateway/store/tokens.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { isUuid } from '../platform/http/uuid.js'
import { NO_SUCH_TOKEN } from './change.js'
import { deleteToken } from './delete.js'
import { rotateToken } from './rotate.js'
import { updateToken } from './update.js'
import { tokenWarnings } from './warnings.js'

const params = z.object({ id: z.string() })
/** Waits for edges, for at most TOKEN_STALE_SECONDS. */
const config = { mayTakeLong: true }
const CONFIRMED =
  'The response comes when every live edge process has applied the change, at the latest after TOKEN_STALE_SECONDS. `confirmed` and `pending` ' +
  'name the processes that have and have not applied it.'

/** Routes that read, change and delete one token. */
export function tokenRecordRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  const path = '/api/v1/admin/tokens/:id'
  app.get(
    path,
    {
      schema: {
        operationId: 'getToken',
        summary: 'Get a service token',
        description: 'The response has no plaintext, because the gateway does not store it.',
        params,
        response: { 200: tokenSchema },
      },
    },
    async ({ params: { id } }, reply) => {
      const token = isUuid(id) ? await readToken(ctx.sql, id) : null
      return token ?? sendRefusal(reply, NO_SUCH_TOKEN)
    },
  )
  app.patch(
    path,
    {
      config,
      schema: {
        operationId: 'updateToken',
        summary: 'Change a service token',
        description:
          'Fields that are omitted or null keep their values, except that `rate_limit: null` and `bounds: null` remove the limit. The secret ' +
          'does not change. A list replaces the whole list. If an expired token gets a later `expires_at`, it is accepted again; a disabled ' +
          `token stays disabled. ${CONFIRMED}`,
        params,
        body: tokenPatchSchema,
        response: { 200: changedTokenSchema },
      },
    },
    async ({ params: { id }, body, admin }, reply) => {
      const outcome = await updateToken(ctx, edges, id, body, admin)
      if (!outcome.ok) return sendRefusal(reply, outcome)
      return withWarnings(outcome.answer, await tokenWarnings(ctx, outcome.answer, body))
    },
  )
  app.post(
    `${path}/rotate`,
    {
      config: {
        ...config,
        ifUnknown: 'token_rotated',
      },
      schema: {
        operationId: 'rotateToken',
        summary: 'Give a service token a new secret',
        description:
          'Only this response carries the new plaintext `token`. The record, its grants and its expiry do not change. The present secret is ' +
          'accepted for `grace_seconds` more (by default 0), and an earlier one ends now. Returns 409 if the token is disabled or expired. ' +
          `${CONFIRMED}`,
        params,
        body: rotateBodySchema,
        response: { 200: rotatedTokenSchema },
      },
    },
    async ({ params: { id }, body, admin }, reply) => {
      const outcome = await rotateToken(ctx, edges, id, body.grace_seconds ?? 0, admin)
      return outcome.ok ? outcome.answer : sendRefusal(reply, outcome)
    },
  )
  app.delete(
    path,
    {
      config,
      schema: {
        operationId: 'deleteToken',
        summary: 'Delete a service token that is disabled or expired',
        description: `Returns 409 if the token is still valid. ${CONFIRMED}`,
        params,
        response: { 200: z.object(acknowledgementFields) },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const outcome = await deleteToken(ctx, edges, id, admin)
      return outcome.ok ? outcome.answer : sendRefusal(reply, outcome)
    },
  )
}
