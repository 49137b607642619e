import { coded } from '@gateway/contracts/messages.js'
import { GRANT_ALL, type Token } from '@gateway/contracts/token.js'
import { type Warning, warningOf } from '@gateway/contracts/warning.js'
import type { ControlContext } from '../platform/context.js'
import { codeWarnings, expiryWarnings, type GivenCodes } from '../platform/warnings.js'

type Granted = Pick<Token, 'basemap_codes' | 'vector_codes'>

/**
 * Returns warnings about a token that was just issued or changed.
 * @param given fields that the request has set; others were checked when they were set
 */
export async function tokenWarnings(
  { sql, now }: Pick<ControlContext, 'sql' | 'now'>,
  token: Granted & Pick<Token, 'scopes' | 'expires_at'>,
  given: { readonly [Field in keyof Granted]?: unknown } & { readonly scopes?: unknown; readonly expires_at?: unknown },
): Promise<Warning[]> {
  const lists: GivenCodes[] = [
    { field: 'basemap_codes', kind: 'basemap', codes: given.basemap_codes === undefined ? [] : token.basemap_codes },
    { field: 'vector_codes', kind: 'vector', codes: given.vector_codes === undefined ? [] : token.vector_codes },
  ]
  const grantsChanged = [given.basemap_codes, given.vector_codes, given.scopes].some((field) => field !== undefined)
  return [
    ...(given.expires_at === undefined ? [] : expiryWarnings('expires_at', token.expires_at, now())),
    ...(await codeWarnings(sql, lists)),
    ...(grantsChanged ? emptyGrantWarnings(token) : []),
  ]
}

function emptyGrantWarnings({ scopes, basemap_codes, vector_codes }: Granted & Pick<Token, 'scopes'>): Warning[] {
  if (!scopes.includes('read') || basemap_codes.length + vector_codes.length > 0) return []
  return [warningOf(coded('nothing_granted', { all: GRANT_ALL }))]
}
