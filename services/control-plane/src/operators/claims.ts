import { hasRole, type Role } from '@gateway/contracts/operator.js'
import type { RoleGrant } from '@gateway/core/settings/schema.js'

export type Claims = Readonly<Record<string, unknown>>

/** Maximum length of a provider's texts, which go into the store, the audit and pages. */
const MAX_NAME = 200
const EVERYONE = '*'

/**
 * Returns the highest role that the values of a claim grant, or null. The claim has exactly that name or, if the name has dots and no such claim
 * exists, is nested in others (`realm_access.roles`).
 */
export function roleOf(claims: Claims, claim: string, grants: readonly RoleGrant[]): Role | null {
  const values = valuesOf(claims[claim] ?? nested(claims, claim))
  let best: Role | null = null
  for (const { role, value } of grants) {
    if (value !== EVERYONE && !values.has(value)) continue
    if (best === null || hasRole(role, best)) best = role
  }
  return best
}

function nested(claims: Claims, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => {
    return typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Claims)[key] : undefined
  }, claims)
}

function valuesOf(claim: unknown): ReadonlySet<string> {
  const list = Array.isArray(claim) ? claim : [claim]
  return new Set(list.filter((value) => typeof value === 'string'))
}

/**
 * Returns the name of a person in the audit: an e-mail address that the provider does not report as unverified, otherwise `oidc:` and the
 * provider's name, so that nobody can take the name of an administrator's credential.
 */
export function actorOf(claims: Claims): string {
  const email = textIn(claims, 'email')
  if (email?.includes('@') && claims.email_verified !== false) return email
  return `oidc:${textIn(claims, 'preferred_username') ?? textIn(claims, 'sub') ?? ''}`
}

/** Returns the name of a person in the console. */
export function nameOf(claims: Claims): string {
  return textIn(claims, 'name') ?? textIn(claims, 'preferred_username') ?? actorOf(claims)
}

function textIn(claims: Claims, name: string): string | null {
  const value = claims[name]
  // The store cannot hold NUL.
  return typeof value === 'string' && value.trim() !== '' ? value.replaceAll('\0', '').slice(0, MAX_NAME) : null
}
