import type { PreviewToken } from '@gateway/contracts/console.js'
import { queryOptions } from '@tanstack/react-query'
import { adminPost } from './client.js'

export type Previewed = { readonly basemap_code: string } | { readonly vector_code: string }

/** Of the 15 minutes that a token lives. Another one is fetched while the page is open; the old one goes on for what is under way. */
const RENEW_MS = 13 * 60_000

/** A token that reads this one resource. It lives in this page's memory alone, and goes into a header, never into an address. */
export function previewTokenQuery(previewed: Previewed) {
  return queryOptions({
    queryKey: ['preview-token', previewed],
    queryFn: () => adminPost<PreviewToken>('/preview-token', previewed),
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    refetchIntervalInBackground: true,
    gcTime: 0,
  })
}

export const TOKEN_HEADER = 'X-Access-Token'

/** The path of a tile below this page's own origin; the edge serves both. */
export function tilePath(code: string, version: string, address: string, format: string): string {
  return `/tiles/${encodeURIComponent(code)}/${encodeURIComponent(version)}/${address}.${format}`
}
