import type { Role, Session } from '@gateway/contracts/operator.js'

/** Who makes an administrative request, and how that is known. */
export interface Operator {
  readonly name: string
  readonly role: Role
  readonly by: Session['by']
  /** of a session; null where the credentials came with the request */
  readonly session: { readonly digest: Buffer; readonly expiresAt: Date } | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** set on admin routes once the request has passed the admin gate */
    operator: Operator
    /** whether the session that the request belongs to still lasts: for answers that take long. undefined: it belongs to none */
    isStillSignedIn: (() => Promise<boolean>) | undefined
  }
  interface FastifyContextConfig {
    /** a route below /admin for those who are not signed in yet */
    forStrangers?: boolean
  }
}
