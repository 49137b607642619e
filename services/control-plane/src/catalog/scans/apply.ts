import { EVERY_BASEMAP } from '@gateway/contracts/change.js'
import {
  readBasemaps,
  setVersionsAvailable,
  touchVersions,
  upsertBasemap,
  upsertVersion,
} from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import {
  readCodesBeginning,
  readVectors,
  readVectorsBeginning,
  setVectorsAvailable,
  upsertVectors,
} from '@gateway/store/vectors.js'
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
  const statements: (() => Promise<void>)[] = []
  for (const { code, name, upsert, versions, lost } of diff.changes) {
    if (upsert) statements.push(() => upsertBasemap(tx, { code, name, tileBaseUrl, sourceCode }))
    for (const version of versions) statements.push(() => upsertVersion(tx, code, version))
    if (lost.length > 0) statements.push(() => setVersionsAvailable(tx, code, lost, false))
  }
  await sendInOrder(statements)
  await touchVersions(tx, diff.seen)
  const warnings = noWarnings()
  warnAll(warnings, found.warnings)
  for (const said of diff.warnings) warn(warnings, said)
  const changed = diff.changes.map(({ code }) => code)
  // Edges tell readers when a version was last seen, of most of them: reading the whole catalog is one change, not one for each.
  if (diff.seen.size > 0 && codes === null) changed.push(EVERY_BASEMAP)
  else changed.push(...diff.seen.keys())
  return { ...diff, warnings, changes: changed.map((key) => ({ kind: 'basemap', key })) }
}

/** Limit: statements that are sent without waiting for the ones before them. They must not fill the pipeline of a connection. */
const SENT_AT_ONCE = 50

/** Runs statements of one transaction in their order. For ten thousand versions, a wait for each answer would take longer than the statements. */
async function sendInOrder(statements: readonly (() => Promise<void>)[]): Promise<void> {
  for (let at = 0; at < statements.length; at += SENT_AT_ONCE) {
    // Nothing may run on after the end of the transaction, so that all of them are waited for also after a failure.
    const settled = await Promise.allSettled(statements.slice(at, at + SENT_AT_ONCE).map((send) => send()))
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
}

/** Writes the result of a vector scan. */
export async function applyVectors(tx: Transaction, found: FoundVectors, scan: ScanOf): Promise<Applied> {
  const diff = await diffOfVectors(tx, found, scan)
  if (diff.upserts.length > 0) await upsertVectors(tx, diff.upserts)
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
