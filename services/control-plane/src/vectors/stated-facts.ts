import type { Bounds } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { GeometryType } from '@gateway/contracts/vector.js'
import type { SeenFacts } from '@gateway/store/vector-builds.js'
import type { IndexDescription } from '@gateway/vectors/index-file/index-description.js'

/** Degrees by which an extent may be off before people are told: writers round theirs. */
const NOTABLE = 0.01

/**
 * Compares the facts that the head of a file states with those of its features, as its index has them. Returns the facts that differ, and a message
 * if a reader of the file would notice the difference. An extent across the antimeridian stays, since that of an index does not wrap.
 */
export function correctedFacts(
  stated: SeenFacts | null,
  { bounds, feature_count: count, geometry_type: type }: IndexDescription,
): { facts: Partial<SeenFacts>; note: CodedMessage | null } {
  if (stated === null) return { facts: {}, note: null }
  const off = stated.bounds === null || bounds === null ? null : distance(stated.bounds, bounds)
  const facts: Partial<SeenFacts> = {
    ...(stated.feature_count !== count && { feature_count: count }),
    ...(bounds !== null && (stated.bounds === null || (off ?? 0) > 0) && { bounds }),
    ...(type !== null && isOther(stated.geometry_type, type) && { geometry_type: type as GeometryType }),
  }
  if (stated.feature_count !== null && facts.feature_count !== undefined)
    return { facts, note: coded('vector_states_count', { expected: stated.feature_count, count }) }
  return { facts, note: off !== null && off > NOTABLE ? coded('vector_states_extent') : null }
}

function distance(stated: Bounds, found: Bounds): number {
  return stated[0] > stated[2] ? 0 : Math.max(...stated.map((side, i) => Math.abs(side - (found[i] as number))))
}

/** Single parts and several parts are one kind for the head of many formats. `Geometry` covers all. */
function isOther(stated: string | null, found: string): boolean {
  const kind = (name: string) => name.replace('Multi', '')
  return stated === null || (stated !== 'Geometry' && stated !== 'MultiPatch' && kind(stated) !== kind(found))
}
