import type { DisabledToken } from '@gateway/contracts/edge.js'
import type {
  IssuedToken,
  PreviewLink,
  PreviewLinkBody,
  Token,
  TokenBody,
  TokenPatch,
} from '@gateway/contracts/token.js'
import { queryOptions } from '@tanstack/react-query'
import type { Acknowledged } from './catalog.js'
import { adminGet, segment } from './client.js'
import { type ListSource, listQuery } from './list.js'
import { useWrite } from './use-write.js'

// No event is sent when a token is used.
export const TOKENS: ListSource = { key: 'tokens', path: '/tokens', refetchInterval: 30_000 }

/** So long before its end an active token needs attention. */
export const EXPIRES_WITHIN_DAYS = 14
const SOON = { expires_within: `${EXPIRES_WITHIN_DAYS}d` }
/** The page of exactly those, the first to expire at the top. */
export const EXPIRING_TOKENS = `/tokens?${new URLSearchParams({ ...SOON, sort: 'expires_at' })}`

/** The tokens that expire first. */
export function expiringTokensQuery(limit: number) {
  return listQuery<Token>({ key: 'tokens', path: '/tokens' }, { limit, sort: 'expires_at', filters: SOON })
}

export function tokenQuery(id: string) {
  return queryOptions({
    queryKey: ['tokens', id],
    queryFn: ({ signal }) => adminGet<Token>(`/tokens/${segment(id)}`, signal),
    refetchInterval: 30_000,
  })
}

export function useUpdateToken(id: string) {
  return useWrite<TokenPatch, Token & Acknowledged>(
    (body) => ({ method: 'PATCH', path: `/tokens/${segment(id)}`, body }),
    { changes: ['tokens'] },
  )
}

export function useRotateToken(id: string) {
  return useWrite<number, IssuedToken & Acknowledged>(
    (seconds) => ({ method: 'POST', path: `/tokens/${segment(id)}/rotate`, body: { grace_seconds: seconds } }),
    // The plaintext lives as long as the dialog that shows it.
    { changes: ['tokens'], gcTime: 0 },
  )
}

export function useIssueToken() {
  return useWrite<TokenBody, IssuedToken>((body) => ({ method: 'POST', path: '/tokens', body }), {
    changes: ['tokens'],
    // The plaintext lives as long as the dialog that shows it.
    gcTime: 0,
  })
}

/** Makes a link to a map for people without an account. */
export function useCreatePreviewLink() {
  return useWrite<PreviewLinkBody, PreviewLink>((body) => ({ method: 'POST', path: '/preview-links', body }), {
    changes: ['tokens'],
    // The link lives as long as the dialog that shows it.
    gcTime: 0,
  })
}

export function useDisableToken() {
  return useWrite<string, DisabledToken>((id) => ({ method: 'POST', path: `/tokens/${segment(id)}/disable` }), {
    changes: ['tokens'],
  })
}
