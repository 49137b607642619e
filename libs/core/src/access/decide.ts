import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { GRANT_ALL, type Scope } from '@gateway/contracts/token.js'
import { breachOf, type Sender, type TokenLimits } from './token-limits.js'

/** The rights of a token in the form that decisions read. Immutable. */
export interface AccessToken {
  readonly id: string
  readonly prefix: string
  readonly scopes: ReadonlySet<Scope>
  readonly basemaps: ReadonlySet<string>
  readonly vectors: ReadonlySet<string>
  /** layers that the token may slice */
  readonly layers: ReadonlySet<string>
  /** milliseconds since 1970; null: never */
  readonly expiresAtMs: number | null
  readonly disabled: boolean
  /** null: no limits */
  readonly limits: TokenLimits | null
  /** true for a preview of the console, which also reads held versions; default: false */
  readonly readsHeld?: boolean
}

/** The resource that a request wants. A vector has each of the names that a grant may use. `null` checks only the scope. */
export type WantedResource =
  | { readonly kind: 'basemap'; readonly code: string }
  | { readonly kind: 'layer'; readonly code: string }
  | { readonly kind: 'vector'; readonly names: readonly string[] }
  | StyleResource
  | SeveralResources
  | null

/** Resources of one response, all of which a token must be granted. */
export interface SeveralResources {
  readonly kind: 'all'
  readonly of: readonly NonNullable<WantedResource>[]
}

/** A style. A token may read it if it is granted every resource of the gateway in the style. */
export interface StyleResource {
  readonly kind: 'style'
  readonly code: string
  readonly parts: readonly StylePart[]
}

export interface StylePart {
  /** name of the source in the style */
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
 * Decides whether a token may read a resource. The order of refusals is fixed: no usable token (401), a sender that is not allowed (403), a
 * missing scope (403), a resource that is not granted (403), whether or not it exists. The caller finds absent resources (404). Pure.
 * Allocates nothing for a token without limits.
 * @param sender null if it is unknown; a token with limits is then refused
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

/** True if the grants of a token cover a resource. Ignores the state of the token. */
export function isGranted(token: AccessToken, wanted: NonNullable<WantedResource>): boolean {
  if (wanted.kind === 'basemap') return token.basemaps.has(GRANT_ALL) || token.basemaps.has(wanted.code)
  if (wanted.kind === 'layer') return token.layers.has(GRANT_ALL) || token.layers.has(wanted.code)
  if (wanted.kind === 'style') return wanted.parts.every((part) => isGranted(token, part.wanted))
  if (wanted.kind === 'all') return wanted.of.every((one) => isGranted(token, one))
  if (token.vectors.has(GRANT_ALL)) return true
  for (const name of wanted.names) if (token.vectors.has(name)) return true
  return false
}
