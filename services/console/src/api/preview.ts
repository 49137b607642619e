import { queryOptions } from '@tanstack/react-query'
import { call, segment, send } from './client.js'

export type Previewed =
  | { readonly basemap_code: string }
  | { readonly basemap_codes?: readonly string[]; readonly vector_codes?: readonly string[] }
  | { readonly vector_code: string }
  | { readonly style_code: string }

/** Of the 15 minutes that a token lives. It is replaced while the page is open; requests under way go on with the old one. */
export const RENEW_MS = 13 * 60_000

export function fetchPreviewToken(previewed: Previewed, signal?: AbortSignal) {
  return send(call('post', '/api/v1/admin/preview-token', { body: previewed }), signal)
}

/** A token that reads this one resource. It lives in the memory of the page, and goes into a header, never into an address. */
export function previewTokenQuery(previewed: Previewed) {
  return queryOptions({
    queryKey: ['preview-token', previewed],
    queryFn: ({ signal }) => fetchPreviewToken(previewed, signal),
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    refetchIntervalInBackground: true,
    gcTime: 0,
  })
}

export const TOKEN_HEADER = 'X-Access-Token'

/** The path of a tile below this page's own origin; the edge serves both. */
export function tilePath(code: string, version: string, address: string, format: string): string {
  return `/tiles/${segment(code)}/${segment(version)}/${address}.${format}`
}
