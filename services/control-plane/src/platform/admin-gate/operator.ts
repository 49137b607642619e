import type { Role, Session } from '@gateway/contracts/operator.js'

/** The author of an administrative request, and the way of authentication. */
export interface Operator {
  readonly name: string
  readonly role: Role
  readonly by: Session['by']
  /** the session; null if the credentials came with the request */
  readonly session: { readonly digest: Buffer; readonly expiresAt: Date } | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** set on admin routes after the request has passed the admin gate */
    operator: Operator
    /** tells whether the session of the request is still valid, for long responses; undefined without a session */
    isStillSignedIn: (() => Promise<boolean>) | undefined
  }
  interface FastifyContextConfig {
    /** true for a route below /admin that needs no sign-in */
    forStrangers?: boolean
  }
}
