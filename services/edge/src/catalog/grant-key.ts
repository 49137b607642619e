import { createHash } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'

const known = new WeakMap<ReadonlySet<string>, string>()

/** Returns a part of a key that identifies the entries that a token may list: equal for tokens with equal grants. */
export function grantKey(grants: ReadonlySet<string>): string {
  const before = known.get(grants)
  if (before !== undefined) return before
  const made = createHash('sha256')
    .update(JSON.stringify([...grants].sort()))
    .digest('base64url')
  known.set(grants, made)
  return made
}

/** Returns a part of a key that identifies the area to which a document is cut; '' if it is not cut. */
export function areaKey(area: Bounds | null): string {
  return area === null ? '' : ` within ${area}`
}

/** Returns a short name of an area, for tags by which clients recognize what was cut to it. */
export function areaTag(area: Bounds | null): string {
  return createHash('sha256').update(areaKey(area)).digest('base64url').slice(0, 8)
}
