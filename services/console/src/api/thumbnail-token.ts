import { fetchPreviewToken, RENEW_MS } from './preview.js'

interface Batch {
  readonly codes: Set<string>
  readonly token: Promise<string>
}

/** Limit: codes of one token; as the service takes them. */
const MAX_CODES = 100

const known = new Map<string, { readonly token: Promise<string>; readonly untilMs: number }>()
let open: Batch | null = null

/** A token that reads this basemap. Rows of a list that ask for theirs in one moment get one together. */
export function thumbnailToken(code: string): Promise<string> {
  const kept = known.get(code)
  if (kept !== undefined && performance.now() < kept.untilMs) return kept.token
  if (open === null || open.codes.size >= MAX_CODES) open = newBatch()
  open.codes.add(code)
  const { token } = open
  known.set(code, { token, untilMs: performance.now() + RENEW_MS })
  // A failure is not kept.
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
