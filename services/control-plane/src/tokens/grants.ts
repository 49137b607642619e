import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { type BulkTokenParams, GRANT_ALL, MAX_GRANTS, type Token } from '@gateway/contracts/token.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import type { TokenWork } from './change.js'
import { expiryOf, unique } from './issue.js'
import { updating } from './update.js'

export const GRANT_FIELDS = ['basemap_codes', 'vector_codes', 'layer_codes'] as const

type Context = Pick<ControlContext, 'now'>

/** Moves the expiry of a token to a later time. Refused if it would be shortened: it already expires later, or never. */
export function extending(ctx: Context, { expires_at }: BulkTokenParams, admin: AdminIdentity): TokenWork<Token> {
  const update = updating(ctx, { expires_at }, admin)
  return async (tx, token) => {
    const expiry = expiryOf(expires_at, ctx.now(), 0)
    if (!expiry.ok) return expiry
    const isLater = expiry.at !== null && expiry.at.getTime() < (endOf(token) ?? Number.POSITIVE_INFINITY)
    return isLater ? ENDS_LATER : update(tx, token)
  }
}

const ENDS_LATER = refuse('conflict', coded('token_expires_later'))

function endOf({ expires_at }: Token): number | null {
  return expires_at === null ? null : Date.parse(expires_at)
}

/** Adds codes to the grants of a token. A list that grants all stays unchanged. */
export function granting(ctx: Context, params: BulkTokenParams, admin: AdminIdentity): TokenWork<Token> {
  return async (tx, token) => {
    const patch = fieldsOf(params, (field, codes) =>
      token[field].includes(GRANT_ALL) ? token[field] : unique([...token[field], ...codes]),
    )
    if (Object.values(patch).some((codes) => codes.length > MAX_GRANTS)) return TOO_MANY
    return updating(ctx, patch, admin)(tx, token)
  }
}

const TOO_MANY = refuse('conflict', coded('token_too_many_grants', { limit: MAX_GRANTS }))

/** Removes codes from the grants of a token. Refused for a list that grants all, which would still grant them. */
export function withdrawing(ctx: Context, params: BulkTokenParams, admin: AdminIdentity): TokenWork<Token> {
  return async (tx, token) => {
    const patch = fieldsOf(params, (field, codes) => token[field].filter((code) => !codes.includes(code)))
    const goesOn = GRANT_FIELDS.find((field) => patch[field]?.includes(GRANT_ALL))
    if (goesOn !== undefined) return grantsAll(goesOn)
    return updating(ctx, patch, admin)(tx, token)
  }
}

const grantsAll = (field: string) => refuse('conflict', coded('token_grants_all', { field, all: GRANT_ALL }))

type Codes = { [Field in (typeof GRANT_FIELDS)[number]]?: string[] }

/** Returns the lists that the parameters name, each derived from the current grants. */
function fieldsOf(
  params: BulkTokenParams,
  make: (field: (typeof GRANT_FIELDS)[number], codes: readonly string[]) => string[],
): Codes {
  const named = GRANT_FIELDS.flatMap((field) => {
    const codes = params[field]
    return codes === undefined ? [] : [[field, make(field, codes)] as const]
  })
  return Object.fromEntries(named)
}
