import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { IssuedToken, Token, TokenBody } from '@gateway/contracts/token.js'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { adminGet, adminPost, type List, segment } from './client.js'

/** As many as one answer carries; the page says so where there are more. */
export const LISTED_TOKENS = 1000

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => adminGet<List<Token>>(`/tokens?limit=${LISTED_TOKENS}`, signal),
  // No event tells of a token's use.
  refetchInterval: 30_000,
})

export function useIssueToken() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: TokenBody) => adminPost<IssuedToken>('/tokens', body),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensQuery.queryKey }),
    // The plaintext is kept by the dialog that shows it, for as long as it shows it.
    gcTime: 0,
  })
}

export function useDisableToken() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => adminPost<DisabledToken>(`/tokens/${segment(id)}/disable`),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  })
}
