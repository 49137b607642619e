import { distance } from 'fastest-levenshtein'

/** Maximum characters of a compared name. A longer one is not a misspelling. */
const MAX_COMPARED = 64

/** Returns the known name that was probably meant, or null. `basemapCodes` is similar to `basemap_codes`, and `expires` to `expires_at`. */
export function nearest(given: string, known: readonly string[]): string | null {
  if (given.length > MAX_COMPARED) return null
  const plain = simplified(given)
  if (plain === '') return null
  let best: string | null = null
  let least = Math.max(plain.length > 3 ? 2 : 1, Math.floor(plain.length / 3)) + 1
  for (const name of known) {
    const steps = distance(plain, simplified(name))
    if (steps >= least) continue
    best = name
    least = steps
  }
  if (best !== null || plain.length < 4) return best
  const containing = known.filter((name) => simplified(name).includes(plain) || plain.includes(simplified(name)))
  return containing.length === 1 ? (containing[0] as string) : null
}

function simplified(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
