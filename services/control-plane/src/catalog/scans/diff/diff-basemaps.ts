import { isDeepStrictEqual } from 'node:util'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import {
  asScanned,
  isPublished,
  type NewVersion,
  type StoredBasemap,
  type StoredVersion,
} from '@gateway/store/basemaps.js'
import type { FoundBasemap, FoundBasemaps } from '../walk/found.js'
import { quoted } from '../walk/found.js'

/** The changes that a scan makes to one basemap. */
export interface BasemapChange {
  readonly code: string
  readonly name: string
  /** true if the basemap is new, or its name or public URL differs */
  readonly upsert: boolean
  /** new, changed or returned versions */
  readonly versions: readonly NewVersion[]
  /** versions that were available and were not found */
  readonly lost: readonly string[]
}

export interface BasemapDiff {
  /** basemaps that differ from the known state, ordered by code */
  readonly changes: readonly BasemapChange[]
  readonly added: number
  readonly updated: number
  /** number of known versions that were not found, now or by earlier scans */
  readonly missing: number
  readonly warnings: readonly CodedMessage[]
}

/** The source of a scan, its start by the store's clock, and the current public tile URL. */
export interface ScanContext {
  readonly sourceCode: string
  readonly startedAt: Date
  readonly tileBaseUrl: string
  /** codes of the basemaps that the scan looked for; null or absent: all basemaps of the source */
  readonly codes?: ReadonlySet<string> | null
}

/**
 * Compares the results of a scan with the catalog. Pure; the order of both does not matter. Nothing is ever deleted: a missing version is marked
 * unavailable, once, and a version that is found again is updated. A version that was registered after the scan began is not changed, because the
 * walk may have passed before it existed.
 * @param known every basemap of the catalog, or those that the scan has looked for or found: a code that belongs to another source does not change,
 * with a warning
 */
export function diffBasemaps(found: FoundBasemaps, known: readonly StoredBasemap[], scan: ScanContext): BasemapDiff {
  const knownByCode = new Map(known.map((basemap) => [basemap.code, basemap]))
  const foundByCode = new Map(found.basemaps.map((basemap) => [basemap.code, basemap]))
  const uncertain = new Set(found.uncertain.map(({ code, version }) => key(code, version)))
  const isLookedFor = ({ code, sourceCode }: StoredBasemap) =>
    sourceCode === scan.sourceCode && (scan.codes?.has(code) ?? true)
  const own = known.filter(isLookedFor).map(({ code }) => code)
  const warnings: CodedMessage[] = []
  const changes: BasemapChange[] = []
  const counts = { added: 0, updated: 0, missing: 0 }
  for (const code of [...new Set([...own, ...foundByCode.keys()])].sort()) {
    const before = knownByCode.get(code)
    if (before !== undefined && before.sourceCode !== scan.sourceCode) {
      warnings.push(coded('scan_code_taken', { file: quoted(code), source: quoted(before.sourceCode) }))
      continue
    }
    const one = diffOne(code, before, foundByCode.get(code), uncertain, scan)
    counts.added += one.added
    counts.updated += one.change.versions.length - one.added
    counts.missing += one.missing
    if (one.change.upsert || one.change.versions.length > 0 || one.change.lost.length > 0) changes.push(one.change)
  }
  return { changes, ...counts, warnings }
}

interface OneDiff {
  readonly change: BasemapChange
  readonly added: number
  readonly missing: number
}

function diffOne(
  code: string,
  before: StoredBasemap | undefined,
  now: FoundBasemap | undefined,
  uncertain: ReadonlySet<string>,
  { startedAt, tileBaseUrl }: ScanContext,
): OneDiff {
  const was = new Map((before?.versions ?? []).map((version) => [version.version, version]))
  const isNewer = (version: StoredVersion | undefined) => version !== undefined && version.scannedAt > startedAt
  const found = [...(now?.versions ?? [])].filter((version) => !isNewer(was.get(version.version)))
  const differs = (version: NewVersion) => !isSame(was.get(version.version), version)
  const names = new Set((now?.versions ?? []).map((version) => version.version))
  const missing = [...was.values()]
    .filter((version) => !names.has(version.version) && !isNewer(version))
    .filter((version) => !uncertain.has(key(code, version.version)))
    .filter((version) => before === undefined || !isPublished(before, version))
  const lost = missing.filter((version) => version.available).map((version) => version.version)
  const name = now?.name ?? before?.scannedName ?? code
  const upsert = now !== undefined && (before?.scannedName !== name || before.tileBaseUrl !== tileBaseUrl)
  return {
    change: { code, name, upsert, versions: sorted(found.filter(differs)), lost: lost.sort() },
    added: found.filter((version) => !was.has(version.version)).length,
    missing: missing.length,
  }
}

function sorted(versions: NewVersion[]): NewVersion[] {
  return versions.sort((a, b) => (a.version < b.version ? -1 : 1))
}

function key(code: string, version: string): string {
  return `${code}\0${version}`
}

/** True if a version is available and unchanged in every stored field. */
function isSame(was: StoredVersion | undefined, now: NewVersion): boolean {
  if (!was?.available) return false
  const known = asScanned(was)
  return (Object.keys(now) as (keyof NewVersion)[]).every(
    (field) => known[field] === now[field] || isDeepStrictEqual(plain(known[field]), plain(now[field])),
  )
}

/** Converts a value to the form that the store returns: -0 becomes 0, and the keys of JSON objects have no order. */
function plain(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value
}
