import { createHash } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'

const known = new WeakMap<ReadonlySet<string>, string>()

/** What a token may list, as a part of a key: of tokens with equal grants it is the same. */
export function grantKey(grants: ReadonlySet<string>): string {
  const before = known.get(grants)
  if (before !== undefined) return before
  const made = createHash('sha256')
    .update(JSON.stringify([...grants].sort()))
    .digest('base64url')
  known.set(grants, made)
  return made
}

/** The area that a document is cut to, as a part of a key; '': it is not cut. */
export function areaKey(area: Bounds | null): string {
  return area === null ? '' : ` within ${area}`
}
