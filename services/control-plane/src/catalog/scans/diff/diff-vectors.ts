import type { NewVector, StoredVector } from '@gateway/store/vectors.js'
import { assignCodes } from '../../register/codes.js'
import type { FoundVector } from '../walk/found.js'

export interface VectorDiff {
  /** new, changed or returned vectors */
  readonly upserts: readonly NewVector[]
  /** codes of vectors that were available and were not found */
  readonly lostCodes: readonly string[]
  readonly added: number
  readonly updated: number
  /** number of known vectors that were not found, now or by earlier scans */
  readonly missing: number
}

/**
 * Compares the result of a scan with the known state. Pure; the order of both does not matter. Nothing is ever deleted, and a relative path
 * keeps its code over all scans.
 * @param known every vector of the catalog, since codes are unique over all sources; or those that the scan has looked for
 * @param taken codes that others have; left out: those of `known`
 */
export function diffVectors(
  found: readonly FoundVector[],
  known: readonly StoredVector[],
  sourceCode: string,
  taken: ReadonlySet<string> = new Set(known.map((vector) => vector.code)),
): VectorDiff {
  const own = new Map(known.filter((v) => v.sourceCode === sourceCode).map((v) => [v.relativePath, v]))
  const codes = assignCodes(
    found.map((vector) => vector.relativePath),
    new Map([...own].map(([path, vector]) => [path, vector.code])),
    taken,
  )
  const upserts: NewVector[] = []
  let added = 0
  for (const vector of found) {
    const was = own.get(vector.relativePath)
    const isSameFile = was?.fingerprint === vector.fingerprint && was.path === vector.path
    if (was?.available && isSameFile && vector.facts === null) continue
    if (was === undefined) added += 1
    upserts.push({ ...vector, code: codes.get(vector.relativePath) as string, sourceCode })
  }
  const foundPaths = new Set(found.map((vector) => vector.relativePath))
  const missing = [...own.values()].filter((was) => !foundPaths.has(was.relativePath))
  const lostCodes = missing
    .filter((was) => was.available)
    .map((was) => was.code)
    .sort()
  return { upserts, lostCodes, added, updated: upserts.length - added, missing: missing.length }
}
