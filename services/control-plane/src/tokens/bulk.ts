import { type BulkTokenParams, bulkTokenParamsSchema, type Token } from '@gateway/contracts/token.js'
import type { Warning } from '@gateway/contracts/warning.js'
import { findTokenIds } from '@gateway/store/tokens.js'
import { bulkRoute, type ListQuery } from '../platform/bulk/bulk-route.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../platform/http/app-type.js'
import { codeWarnings, expiryWarnings } from '../platform/warnings.js'
import { changeInside, type TokenWork } from './change.js'
import { disabling } from './disable.js'
import { extending, GRANT_FIELDS, granting, withdrawing } from './grants.js'
import { expiryOf } from './issue.js'
import { updating } from './update.js'

const ACTIONS = {
  disable: 'refuses the tokens from now on, permanently',
  extend:
    'sets `params.expires_at` (0: never); a token that already expires later is in `failed`, because this action never shortens',
  expire: 'sets `params.expires_at` (0: never), also to an earlier time than before',
  grant: 'adds the codes of `params` to the lists of the same names; a list that has `*` does not change',
  withdraw: 'removes these codes; a token whose list has `*` is in `failed`, unless `*` is removed',
} as const
type Action = keyof typeof ACTIONS

type Works = Readonly<
  Record<Action, (ctx: ControlContext, params: BulkTokenParams, admin: AdminIdentity) => TokenWork<Token>>
>
const WORKS: Works = {
  disable: (_ctx, _params, admin) => disabling(admin),
  extend: extending,
  expire: (ctx, { expires_at }, admin) => updating(ctx, { expires_at }, admin),
  grant: granting,
  withdraw: withdrawing,
}

/** One action on many tokens. @param query that of their list */
export function bulkTokensRoute(app: App, ctx: ControlContext, edges: KnownEdges, query: ListQuery): void {
  bulkRoute(app, ctx, {
    path: 'tokens',
    operationId: 'changeTokens',
    noun: 'service tokens',
    actions: ACTIONS,
    params: {
      schema: bulkTokenParamsSchema,
      of: { disable: [], extend: ['expires_at'], expire: ['expires_at'], grant: GRANT_FIELDS, withdraw: GRANT_FIELDS },
    },
    query,
    find: (filter, most) => findTokenIds(ctx.sql, filter, most),
    change: ({ action, params, admin }) => {
      const work = WORKS[action](ctx, params, admin)
      return (tx, id) => changeInside(tx, id, work)
    },
    warnings: ({ action, params }) => paramWarnings(ctx, action, params),
    edges,
  })
}

/** Returns warnings about the parameters, which apply to all tokens. */
async function paramWarnings(ctx: ControlContext, action: Action, params: BulkTokenParams): Promise<Warning[]> {
  if (action === 'extend' || action === 'expire') {
    const expiry = expiryOf(params.expires_at, ctx.now(), 0)
    const at = expiry.ok ? (expiry.at?.toISOString() ?? null) : null
    return expiryWarnings('params.expires_at', at, ctx.now())
  }
  if (action !== 'grant') return []
  return codeWarnings(ctx.sql, [
    { field: 'params.basemap_codes', kind: 'basemap', codes: params.basemap_codes },
    { field: 'params.vector_codes', kind: 'vector', codes: params.vector_codes },
  ])
}
