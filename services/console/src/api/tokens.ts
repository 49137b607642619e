import { queryOptions } from '@tanstack/react-query'
import { type BodyOf, call, reads } from './client.js'
import { listOf, listQuery } from './list.js'
import { useWrite } from './use-write.js'

export const TOKENS = listOf('tokens', '/api/v1/admin/tokens', {
  kind: true,
  status: true,
  scope: true,
  basemap_code: true,
  vector_code: true,
  layer_code: true,
  expires_after: true,
  expires_within: true,
})

/** Days before its expiry at which an active token needs attention. */
export const EXPIRES_WITHIN_DAYS = 14
const SOON = { expires_within: `${EXPIRES_WITHIN_DAYS}d` }
/** The page with exactly those tokens, the first to expire at the top. */
export const EXPIRING_TOKENS = `/tokens?${new URLSearchParams({ ...SOON, sort: 'expires_at' })}`

/** The tokens that expire first. */
export function expiringTokensQuery(limit: number) {
  return listQuery(TOKENS, { limit, sort: 'expires_at', ...SOON })
}

export function tokenQuery(id: string) {
  return queryOptions({
    queryKey: ['tokens', id],
    queryFn: reads('/api/v1/admin/tokens/{id}', { params: { path: { id } } }),
  })
}

export function useUpdateToken(id: string) {
  return useWrite(
    (body: BodyOf<'patch', '/api/v1/admin/tokens/{id}'>) =>
      call('patch', '/api/v1/admin/tokens/{id}', { params: { path: { id } }, body }),
    { changes: ['tokens'] },
  )
}

export function useRotateToken(id: string) {
  return useWrite(
    (seconds: number) =>
      call('post', '/api/v1/admin/tokens/{id}/rotate', { params: { path: { id } }, body: { grace_seconds: seconds } }),
    // The plaintext is dropped with the dialog that shows it.
    { changes: ['tokens'], gcTime: 0 },
  )
}

export function useIssueToken() {
  return useWrite((body: BodyOf<'post', '/api/v1/admin/tokens'>) => call('post', '/api/v1/admin/tokens', { body }), {
    changes: ['tokens'],
    // The plaintext is dropped with the dialog that shows it.
    gcTime: 0,
  })
}

/** Creates a link to a map for people without an account. */
export function useCreatePreviewLink() {
  type Body = BodyOf<'post', '/api/v1/admin/preview-links'>
  return useWrite((body: Body) => call('post', '/api/v1/admin/preview-links', { body }), {
    changes: ['tokens'],
    // The link is dropped with the dialog that shows it.
    gcTime: 0,
  })
}

export function useDisableToken() {
  return useWrite((id: string) => call('post', '/api/v1/admin/tokens/{id}/disable', { params: { path: { id } } }), {
    changes: ['tokens'],
  })
}

export function deleteToken(id: string) {
  return call('delete', '/api/v1/admin/tokens/{id}', { params: { path: { id } } })
}
