import { relative } from 'node:path'
import type { NewVersion } from '@gateway/store/basemaps.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { nameOf, versionRecord } from '../../register/version-record.js'
import { isZoomFolder, ONLY_VERSION } from './candidates.js'
import { type FoundBasemap, type FoundBasemaps, quoted } from './found.js'
import type { ProbedCandidate } from './probe-candidate.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

interface Named {
  readonly record: NewVersion
  readonly name: string | null
}

/** Groups what was probed by basemap. Where a version exists twice, the first in the order of names is served. */
export function gatherVersions(
  probed: readonly ProbedCandidate[],
  source: WalkedPlace,
): Omit<FoundBasemaps, 'warnings'> {
  const byCode = new Map<string, Map<string, Named>>()
  const uncertain: { code: string; version: string }[] = []
  for (const one of probed) {
    const { code, version, entry } = one.candidate
    if (one.state === 'busy') uncertain.push({ code, version })
    if (one.state !== 'ok') continue
    const versions = byCode.get(code) ?? new Map<string, Named>()
    byCode.set(code, versions)
    const other = versions.get(version)
    if (other === undefined) {
      versions.set(version, { record: versionRecord(version, entry.path, one.probe), name: nameOf(one.probe) })
    } else {
      const served = quoted(relative(source.root, other.record.path))
      warnIn(source, `${quoted(relative(source.root, entry.path))} is left out: ${served} is the same version`)
    }
  }
  warnOfEmpty(probed, byCode, source)
  return { basemaps: [...byCode].map(([code, versions]) => toBasemap(code, versions)), uncertain }
}

function toBasemap(code: string, versions: ReadonlyMap<string, Named>): FoundBasemap {
  const sorted = [...versions.values()].sort((a, b) => compareVersions(a.record.version, b.record.version))
  const name = sorted.findLast((version) => version.name !== null)?.name ?? null
  return { code, name, versions: sorted.map((version) => version.record) }
}

/** A place that was meant to hold a version, and holds none. Zoom folders, and what lies beside them, are not meant so. */
function warnOfEmpty(
  probed: readonly ProbedCandidate[],
  found: ReadonlyMap<string, ReadonlyMap<string, Named>>,
  source: WalkedPlace,
): void {
  const empty = new Set<string>()
  for (const { state, candidate } of probed) {
    const { code, version, entry } = candidate
    const versions = found.get(code)
    if (state !== 'empty' || versions?.has(version)) continue
    if (entry.kind === 'directory') {
      if (versions === undefined) empty.add(code)
      if (versions === undefined || version === ONLY_VERSION || isZoomFolder(entry) || isTree(versions)) continue
    }
    warnIn(source, `${quoted(relative(source.root, entry.path))} holds no tiles`)
  }
  for (const code of empty) warnIn(source, `${quoted(code)} holds no tile set`)
}

function isTree(versions: ReadonlyMap<string, Named>): boolean {
  const storage = versions.get(ONLY_VERSION)?.record.storage
  return storage === 'xyz' || storage === 'tms'
}
