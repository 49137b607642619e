import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { GRANT_ALL, type Scope } from '@gateway/contracts/token.js'
import { breachOf, type Sender, type TokenLimits } from './token-limits.js'

/** What a token may do, in the form in which decisions read it. Immutable. */
export interface AccessToken {
  readonly id: string
  readonly prefix: string
  readonly scopes: ReadonlySet<Scope>
  readonly basemaps: ReadonlySet<string>
  readonly vectors: ReadonlySet<string>
  /** that it may slice */
  readonly layers: ReadonlySet<string>
  /** milliseconds since 1970; null: never */
  readonly expiresAtMs: number | null
  readonly disabled: boolean
  /** null: it may be used from everywhere, as often as wanted */
  readonly limits: TokenLimits | null
  /** a preview of the console, which also reads versions that are held; default: no */
  readonly readsHeld?: boolean
}

/** What a request wants to reach. A vector is known by each of the names that a grant may use; `null` asks for the scope alone. */
export type WantedResource =
  | { readonly kind: 'basemap'; readonly code: string }
  | { readonly kind: 'layer'; readonly code: string }
  | { readonly kind: 'vector'; readonly names: readonly string[] }
  | StyleResource
  | null

/** A style is granted to those who are granted every resource of the gateway in it. */
export interface StyleResource {
  readonly kind: 'style'
  readonly code: string
  readonly parts: readonly StylePart[]
}

export interface StylePart {
  /** the source, as the style calls it */
  readonly source: string
  readonly code: string
  readonly wanted: Extract<WantedResource, { readonly kind: 'basemap' | 'vector' }>
}

export type Decision = { readonly ok: true } | Refusal

export const ALLOWED: Decision = { ok: true }
export const UNKNOWN_TOKEN = refuse('token_unknown', coded('token_unknown'))
const DISABLED = refuse('token_disabled', coded('token_disabled'))
const EXPIRED = refuse('token_expired', coded('token_expired'))
export const NOT_GRANTED = refuse('resource_not_granted', coded('token_not_granted'))
const SCOPE_MISSING: Readonly<Record<Scope, Refusal>> = {
  read: refuse('scope_missing', coded('token_without_scope_read')),
  slice: refuse('scope_missing', coded('token_without_scope_slice')),
  sign: refuse('scope_missing', coded('token_without_scope_sign')),
}

/**
 * The fixed order of refusal: no usable token (401), used from where it must not be (403), scope missing (403), resource not granted (403),
 * whether or not it exists. That a granted resource is absent (404) is for the caller to find. Pure; allocates nothing for a token without
 * limits.
 * @param sender null: not known, so that a token with limits is refused
 */
export function decide(
  token: AccessToken | null,
  wanted: WantedResource,
  scope: Scope,
  nowMs: number,
  sender: Sender | null,
): Decision {
  if (token === null) return UNKNOWN_TOKEN
  if (token.disabled) return DISABLED
  if (token.expiresAtMs !== null && token.expiresAtMs <= nowMs) return EXPIRED
  const breach = token.limits === null ? null : breachOf(token.limits, sender)
  if (breach !== null) return breach
  if (!token.scopes.has(scope)) return SCOPE_MISSING[scope]
  if (wanted === null || isGranted(token, wanted)) return ALLOWED
  return wanted.kind === 'style' ? notGranted(token, wanted) : NOT_GRANTED
}

function notGranted(token: AccessToken, { parts }: StyleResource): Refusal {
  const part = parts.find(({ wanted }) => !isGranted(token, wanted))
  if (part === undefined) return NOT_GRANTED
  const { source, code, wanted } = part
  return refuse('resource_not_granted', coded('style_source_not_granted', { source, kind: wanted.kind, code }))
}

/** Whether the grants of a token cover a resource, the token's own state left aside. */
export function isGranted(token: AccessToken, wanted: NonNullable<WantedResource>): boolean {
  if (wanted.kind === 'basemap') return token.basemaps.has(GRANT_ALL) || token.basemaps.has(wanted.code)
  if (wanted.kind === 'layer') return token.layers.has(GRANT_ALL) || token.layers.has(wanted.code)
  if (wanted.kind === 'style') return wanted.parts.every((part) => isGranted(token, part.wanted))
  if (token.vectors.has(GRANT_ALL)) return true
  for (const name of wanted.names) if (token.vectors.has(name)) return true
  return false
}
