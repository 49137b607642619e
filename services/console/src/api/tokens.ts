import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { IssuedToken, Token, TokenBody, TokenPatch } from '@gateway/contracts/token.js'
import { queryOptions } from '@tanstack/react-query'
import type { Acknowledged } from './catalog.js'
import { adminGet, adminSend, segment } from './client.js'
import type { ListSource } from './list.js'
import { useWrite } from './use-write.js'

// No event is sent when a token is used.
export const TOKENS: ListSource = { key: 'tokens', path: '/tokens', refetchInterval: 30_000 }

export function tokenQuery(id: string) {
  return queryOptions({
    queryKey: ['tokens', id],
    queryFn: ({ signal }) => adminGet<Token>(`/tokens/${segment(id)}`, signal),
    refetchInterval: 30_000,
  })
}

export function useUpdateToken(id: string) {
  return useWrite(
    (body: TokenPatch, signal) => adminSend<Token & Acknowledged>('PATCH', `/tokens/${segment(id)}`, body, { signal }),
    { changes: ['tokens'] },
  )
}

export function useRotateToken(id: string) {
  return useWrite(
    (graceSeconds: number, signal) =>
      adminSend<IssuedToken & Acknowledged>(
        'POST',
        `/tokens/${segment(id)}/rotate`,
        { grace_seconds: graceSeconds },
        { signal },
      ),
    // The plaintext lives as long as the dialog that shows it.
    { changes: ['tokens'], gcTime: 0 },
  )
}

export function useIssueToken() {
  return useWrite((body: TokenBody, signal) => adminSend<IssuedToken>('POST', '/tokens', body, { signal }), {
    changes: ['tokens'],
    // The plaintext lives as long as the dialog that shows it.
    gcTime: 0,
  })
}

export function useDisableToken() {
  return useWrite(
    (id: string, signal) => adminSend<DisabledToken>('POST', `/tokens/${segment(id)}/disable`, undefined, { signal }),
    { changes: ['tokens'] },
  )
}
