import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'

/** The Fastify instance with zod schemas, which validate, type and document all routes. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The author of an administrative request, for the audit. */
export interface AdminIdentity {
  /** e-mail address of a signed-in user, user name of Basic, or `token` for ADMIN_TOKEN */
  readonly actor: string
  readonly address: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** set on admin routes after the request has passed the admin gate */
    admin: AdminIdentity
  }
}
