import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'

/** The Fastify instance as features see it: zod schemas validate, type and document their routes. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The author of an administrative request, for the audit. */
export interface AdminIdentity {
  /** the e-mail address of who signed in, the user name of Basic, or `token` for ADMIN_TOKEN */
  readonly actor: string
  readonly address: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** set on admin routes once the request has passed the admin gate */
    admin: AdminIdentity
  }
}
