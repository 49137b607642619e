import type { AccessToken } from '@gateway/core/access/decide.js'
import { isReached } from '@gateway/store/catalog/canary.js'
import type { Catalog } from './catalog.js'

/** Limit: mixtures of canaries for which catalogs are cached; four concurrent canaries have that many. */
const MAX_MIXTURES = 16

const mixtures = new WeakMap<Catalog, Map<string, Catalog>>()

/** Returns the catalog of a token: the same object for all tokens without a canary, and for all tokens with the same canaries. */
export function catalogFor(catalog: Catalog, token: Pick<AccessToken, 'id'> | null): Catalog {
  const { canaries } = catalog
  if (canaries.length === 0 || token === null) return catalog
  const reached = canaries.filter(({ running }) => isReached(running, token.id))
  if (reached.length === 0) return catalog
  let known = mixtures.get(catalog)
  if (known === undefined) {
    known = new Map()
    mixtures.set(catalog, known)
  }
  const key = reached.map(({ code }) => code).join()
  const before = known.get(key)
  if (before !== undefined) return before
  const basemaps = new Map(catalog.basemaps)
  for (const { code, basemap } of reached) basemaps.set(code, basemap)
  const made = { ...catalog, basemaps, shared: catalog }
  if (known.size >= MAX_MIXTURES) known.delete(known.keys().next().value as string)
  known.set(key, made)
  return made
}
