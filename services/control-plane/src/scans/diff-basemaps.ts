import type { NewVersion, StoredBasemap, StoredVersion } from '@gateway/store/basemaps.js'
import type { FoundBasemap, FoundBasemaps } from './found.js'
import { quoted } from './found.js'

/** What a scan changes of one basemap. */
export interface BasemapChange {
  readonly code: string
  readonly name: string
  /** the basemap itself is new, or its name or public address differs */
  readonly upsert: boolean
  /** new, changed or returned versions */
  readonly versions: readonly NewVersion[]
  /** versions that were available and are not found any more */
  readonly missing: readonly string[]
}

export interface BasemapDiff {
  /** every basemap that differs from what is known, and no other */
  readonly changes: readonly BasemapChange[]
  /** versions that were found, changed or not, by code */
  readonly seen: ReadonlyMap<string, readonly string[]>
  readonly added: number
  readonly updated: number
  readonly missing: number
  readonly warnings: readonly string[]
}

/**
 * Compares what a scan found with what is known. Pure; the order of both does not matter. Nothing is ever deleted: what is not found is
 * marked missing, once, and what is found again is updated.
 * @param known every basemap of the catalog: a code that belongs to another source is left to it, with a warning
 */
export function diffBasemaps(
  found: FoundBasemaps,
  known: readonly StoredBasemap[],
  sourceCode: string,
  tileBaseUrl: string,
): BasemapDiff {
  const knownByCode = new Map(known.map((basemap) => [basemap.code, basemap]))
  const foundByCode = new Map(found.basemaps.map((basemap) => [basemap.code, basemap]))
  const uncertain = new Set(found.uncertain.map(({ code, version }) => key(code, version)))
  const own = known.filter((basemap) => basemap.sourceCode === sourceCode).map((basemap) => basemap.code)
  const warnings: string[] = []
  const changes: BasemapChange[] = []
  const seen = new Map<string, readonly string[]>()
  const counts = { added: 0, updated: 0, missing: 0 }
  for (const code of new Set([...own, ...foundByCode.keys()].sort())) {
    const before = knownByCode.get(code)
    const now = foundByCode.get(code)
    if (before !== undefined && before.sourceCode !== sourceCode) {
      warnings.push(`${quoted(code)} belongs to scan source ${quoted(before.sourceCode)} and was left out`)
      continue
    }
    if (now !== undefined)
      seen.set(
        code,
        now.versions.map((version) => version.version),
      )
    const change = diffOne(code, before, now, uncertain, tileBaseUrl, counts)
    if (change !== null) changes.push(change)
  }
  return { changes, seen, ...counts, warnings }
}

function diffOne(
  code: string,
  before: StoredBasemap | undefined,
  now: FoundBasemap | undefined,
  uncertain: ReadonlySet<string>,
  tileBaseUrl: string,
  counts: { added: number; updated: number; missing: number },
): BasemapChange | null {
  const versionsBefore = new Map((before?.versions ?? []).map((version) => [version.version, version]))
  const versionsNow = new Set((now?.versions ?? []).map((version) => version.version))
  const versions: NewVersion[] = []
  for (const version of now?.versions ?? []) {
    const was = versionsBefore.get(version.version)
    if (was?.available && isSame(was, version)) continue
    versions.push(version)
    if (was === undefined) counts.added += 1
    else counts.updated += 1
  }
  const missing = [...versionsBefore.values()]
    .filter((was) => was.available && !versionsNow.has(was.version) && !uncertain.has(key(code, was.version)))
    .map((was) => was.version)
  counts.missing += missing.length
  const name = now?.name ?? before?.name ?? code
  const upsert =
    now !== undefined && (before === undefined || before.name !== name || before.tileBaseUrl !== tileBaseUrl)
  if (!upsert && versions.length === 0 && missing.length === 0) return null
  return { code, name, upsert, versions, missing }
}

function key(code: string, version: string): string {
  return `${code}\0${version}`
}

/** Whether a scan has found a version as it is known. Everything that the store keeps of it counts. */
function isSame(was: StoredVersion, now: NewVersion): boolean {
  return (Object.keys(now) as (keyof NewVersion)[]).every(
    (field) => JSON.stringify(was[field]) === JSON.stringify(now[field]),
  )
}
