import { MAX_VECTOR_ZOOM, type ReadFacts } from '@gateway/contracts/vector.js'
import { readBasemaps, setVersionsAvailable, upsertBasemaps, upsertVersions } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { setDatabaseTiles, type VectorBuild } from '@gateway/store/vector-builds.js'
import {
  readCodesBeginning,
  readVectors,
  readVectorsBeginning,
  setVectorsAvailable,
  upsertVectors,
} from '@gateway/store/vectors.js'
import { vectorLayerOf } from '@gateway/vectors/postgis/description.js'
import { reducedCode } from '../register/codes.js'
import { diffBasemaps } from './diff/diff-basemaps.js'
import { diffVectors } from './diff/diff-vectors.js'
import { ChangedVectors, withoutExtension } from './walk/changed-vectors.js'
import { codesOfPaths } from './walk/changed-versions.js'
import { type FoundBasemaps, type FoundVectors, noWarnings, type Warnings, warn, warnAll } from './walk/found.js'

/** The outcome of a scan, with the cache entries of the edges that it affects. */
export interface Applied {
  readonly added: number
  readonly updated: number
  readonly missing: number
  readonly warnings: Warnings
  readonly changes: readonly NewChange[]
}

/** The scan whose result is written. */
export interface ScanOf {
  readonly sourceCode: string
  /** time of the store's clock before the walk began */
  readonly startedAt: Date
  /** the paths below the source that it looked at; null: at everything */
  readonly changed: readonly string[] | null
}

/** Writes the result of a basemap scan. Reads the known state in the same transaction, so that concurrent changes are not undone. */
export async function applyBasemaps(
  tx: Transaction,
  found: FoundBasemaps,
  scan: ScanOf,
  tileBaseUrl: string,
): Promise<Applied> {
  const { sourceCode, changed: paths } = scan
  const codes = paths === null ? null : codesOfPaths(paths)
  const concerned = codes === null ? null : [...codes, ...found.basemaps.map(({ code }) => code)]
  const diff = diffBasemaps(found, await readBasemaps(tx, concerned), { ...scan, codes, tileBaseUrl })
  const named = diff.changes.filter(({ upsert }) => upsert)
  await upsertBasemaps(
    tx,
    named.map(({ code, name }) => ({ code, name, tileBaseUrl, sourceCode })),
  )
  await upsertVersions(
    tx,
    diff.changes.flatMap(({ code, versions }) => versions.map((version) => ({ basemapCode: code, ...version }))),
  )
  for (const { code, lost } of diff.changes) if (lost.length > 0) await setVersionsAvailable(tx, code, lost, false)
  const warnings = noWarnings()
  warnAll(warnings, found.warnings)
  for (const said of diff.warnings) warn(warnings, said)
  // Versions that were found unchanged are not written, so that edges read nothing after a scan without changes.
  return { ...diff, warnings, changes: diff.changes.map(({ code }) => ({ kind: 'basemap', key: code })) }
}

/** Writes the result of a vector scan. */
export async function applyVectors(tx: Transaction, found: FoundVectors, scan: ScanOf): Promise<Applied> {
  const diff = await diffOfVectors(tx, found, scan)
  if (diff.upserts.length > 0) await upsertVectors(tx, diff.upserts)
  const builds = diff.upserts.flatMap(({ code, facts, modifiedAt }) =>
    facts?.relation === undefined ? [] : [{ code, build: tilesOfRelation(facts, code, modifiedAt) }],
  )
  await setDatabaseTiles(tx, builds)
  if (diff.lostCodes.length > 0) await setVectorsAvailable(tx, diff.lostCodes, false)
  const codes = [...diff.upserts.map((vector) => vector.code), ...diff.lostCodes]
  return { ...diff, warnings: found.warnings, changes: codes.map((key) => ({ kind: 'vector', key })) }
}

async function diffOfVectors(tx: Transaction, { vectors }: FoundVectors, { sourceCode, changed }: ScanOf) {
  if (changed === null) return diffVectors(vectors, await readVectors(tx, null), sourceCode)
  const lookedFor = new ChangedVectors(changed)
  const near = await readVectorsBeginning(tx, sourceCode, changed.map(withoutExtension))
  const known = near.filter(({ relativePath }) => lookedFor.has(relativePath))
  const bases = vectors.map(({ relativePath }) => reducedCode(relativePath))
  return diffVectors(vectors, known, sourceCode, await readCodesBeginning(tx, bases))
}

const WORLD = [-180, -85.051128779807, 180, 85.051128779807] as const

/** Returns what the catalog says about the tiles of a table or function. */
function tilesOfRelation({ relation, bounds }: ReadFacts, code: string, now: Date): VectorBuild | null {
  if (relation === undefined) return null
  return {
    folder: `postgis:${relation.source}`,
    minZoom: 0,
    maxZoom: MAX_VECTOR_ZOOM,
    bounds: bounds === null ? [...WORLD] : [...bounds],
    leftOut: {},
    vectorLayers: relation.what === 'table' ? [vectorLayerOf(code, relation)] : [],
    builtAt: now.toISOString(),
  }
}
