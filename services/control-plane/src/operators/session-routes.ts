import { sessionSchema } from '@gateway/contracts/operator.js'
import { z } from 'zod'
import { OwnCookies, SESSION_COOKIE } from '../platform/admin-gate/session-cookie.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { endSession } from './session.js'

const PATH = '/api/v1/admin/session'

export function sessionRoutes(app: App, ctx: ControlContext): void {
  const cookies = new OwnCookies(ctx.settings.apiBaseUrl)
  app.get(
    PATH,
    {
      schema: {
        operationId: 'getSession',
        summary: 'Get the person and the role of this request',
        description:
          'Describes the session that began at `/admin/sign-in`, or the credentials of this request, whose role is `admin`.',
        response: { 200: sessionSchema },
      },
    },
    ({ admin: { actor }, operator: { name, role, by, session } }) => ({
      name,
      actor,
      role,
      by,
      expires_at: session?.expiresAt.toISOString() ?? null,
    }),
  )
  app.delete(
    PATH,
    {
      schema: {
        operationId: 'endSession',
        summary: 'Sign out',
        description:
          'Ends the session of this request at once. The session at the OpenID provider goes on. A request without a session changes nothing: ' +
          'credentials that come with each request cannot be revoked.',
        response: { 200: z.object({ ended: z.boolean() }) },
      },
    },
    async ({ admin, operator: { session } }, reply) => {
      if (session === null) return { ended: false }
      await endSession(ctx, session.digest, admin)
      reply.header('Set-Cookie', cookies.clear(SESSION_COOKIE))
      return { ended: true }
    },
  )
}
