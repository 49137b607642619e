import { fetchPreviewToken, RENEW_MS } from './preview.js'

interface Batch {
  readonly codes: Set<string>
  readonly token: Promise<string>
}

/** Maximum number of codes in one token, as the service allows. */
const MAX_CODES = 100

const known = new Map<string, { readonly token: Promise<string>; readonly untilMs: number }>()
let open: Batch | null = null

/** Returns a token that reads this basemap. Rows that request it at the same moment share one token. */
export function thumbnailToken(code: string): Promise<string> {
  const kept = known.get(code)
  if (kept !== undefined && performance.now() < kept.untilMs) return kept.token
  if (open === null || open.codes.size >= MAX_CODES) open = newBatch()
  open.codes.add(code)
  const { token } = open
  known.set(code, { token, untilMs: performance.now() + RENEW_MS })
  // Failures are not cached.
  token.catch(() => known.delete(code))
  return token
}

function newBatch(): Batch {
  const codes = new Set<string>()
  const token = (async () => {
    await new Promise((resolve) => setTimeout(resolve))
    open = null
    return (await fetchPreviewToken({ basemap_codes: [...codes] })).token
  })()
  return { codes, token }
}
