import { z } from 'zod'
import { timestampSchema } from './common.js'

/** Roles of operators. Each role includes the rights of those before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

export const sessionSchema = z.object({
  name: z.string().describe('the person, or the administrator’s user name; `token` for ADMIN_TOKEN'),
  actor: z.string().describe('the name of the same person in the audit'),
  role: z.enum(ROLES),
  by: z
    .enum(['oidc', 'password', 'basic', 'bearer'])
    .describe('a session that began at the OpenID provider or with the password, or the credentials of this request'),
  expires_at: timestampSchema.nullable().describe('the latest end of the session; null: the request has no session'),
})
export type Session = z.infer<typeof sessionSchema>
