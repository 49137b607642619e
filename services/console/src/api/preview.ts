import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { call, segment, send } from './client.js'

export type Previewed =
  | { readonly basemap_code: string }
  | { readonly basemap_codes?: readonly string[]; readonly vector_codes?: readonly string[] }
  | { readonly vector_code: string }
  | { readonly style_code: string }

/** A token lives 15 minutes. It is replaced when somebody uses the page after this time, and requests in progress keep the old one. */
export const RENEW_MS = 13 * 60_000

export function fetchPreviewToken(previewed: Previewed, signal?: AbortSignal) {
  return send(call('post', '/api/v1/admin/preview-token', { body: previewed }), signal)
}

/** A token that reads only this resource. It stays in the memory of the page, and is sent in a header, never in a URL. */
export function previewTokenQuery(previewed: Previewed) {
  return queryOptions({
    queryKey: ['preview-token', previewed],
    queryFn: ({ signal }) => fetchPreviewToken(previewed, signal),
    staleTime: RENEW_MS,
    gcTime: 0,
  })
}

/** Replaces the tokens of the page that soon expire. An idle page requests nothing. */
export function renewPreviewTokens(queries: QueryClient): void {
  void queries.refetchQueries({ queryKey: ['preview-token'], type: 'active', stale: true })
}

export const TOKEN_HEADER = 'X-Access-Token'

/** Returns the path of a tile on this page's own origin, which also serves the edge. */
export function tilePath(code: string, version: string, address: string, format: string): string {
  return `/tiles/${segment(code)}/${segment(version)}/${address}.${format}`
}

type Granted = 'basemap_codes' | 'vector_codes'

interface Batch {
  readonly codes: Set<string>
  readonly token: Promise<string>
}

/** Maximum number of codes in one token, as the service allows. */
const MAX_CODES = 100

const known = new Map<string, { readonly token: Promise<string>; readonly untilMs: number }>()
const open: { [kind in Granted]?: Batch | undefined } = {}

/** Returns a token that reads this basemap or vector. Rows that request it at the same moment share one token. */
export function rowToken(kind: Granted, code: string): Promise<string> {
  const key = `${kind} ${code}`
  const kept = known.get(key)
  if (kept !== undefined && performance.now() < kept.untilMs) return kept.token
  const current = open[kind]
  const batch = current === undefined || current.codes.size >= MAX_CODES ? newBatch(kind) : current
  open[kind] = batch
  batch.codes.add(code)
  const { token } = batch
  known.set(key, { token, untilMs: performance.now() + RENEW_MS })
  // Failures are not cached.
  token.catch(() => known.delete(key))
  return token
}

function newBatch(kind: Granted): Batch {
  const codes = new Set<string>()
  const token = (async () => {
    await new Promise((resolve) => setTimeout(resolve))
    open[kind] = undefined
    return (await fetchPreviewToken({ [kind]: [...codes] })).token
  })()
  return { codes, token }
}
