import { relative } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { pathBelow } from '@gateway/core/object-storage/location.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { layoutNameOf } from '@gateway/tilesets/layouts/layout.js'
import { nameOf, versionRecord } from '../../register/version-record.js'
import { isZoomFolder, type ListFolder, ONLY_VERSION } from './candidates.js'
import { type FoundBasemap, type FoundBasemaps, quoted } from './found.js'
import type { Entry } from './list-entries.js'
import type { ProbedCandidate } from './probe-candidate.js'
import { layoutOf } from './tile-layouts.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

interface Named {
  readonly record: NewVersion
  readonly name: string | null
}

/** Groups probed candidates by basemap. If a version exists twice, the first one in the order of names is served. */
export async function gatherVersions(
  probed: readonly ProbedCandidate[],
  source: WalkedPlace,
  list: ListFolder,
): Promise<Omit<FoundBasemaps, 'warnings'>> {
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
      warnIn(source, coded('scan_same_version', { file: quoted(relative(source.root, entry.path)), served }))
    }
  }
  await warnOfEmpty(probed, byCode, source, list)
  return { basemaps: [...byCode].map(([code, versions]) => toBasemap(code, versions)), uncertain }
}

function toBasemap(code: string, versions: ReadonlyMap<string, Named>): FoundBasemap {
  const sorted = [...versions.values()].sort((a, b) => compareVersions(a.record.version, b.record.version))
  const name = sorted.findLast((version) => version.name !== null)?.name ?? null
  return { code, name, versions: sorted.map((version) => version.record) }
}

/** Warns of a place that was meant to hold a version, and holds none. This excludes zoom folders and their neighbours. */
async function warnOfEmpty(
  probed: readonly ProbedCandidate[],
  found: ReadonlyMap<string, ReadonlyMap<string, Named>>,
  source: WalkedPlace,
  list: ListFolder,
): Promise<void> {
  const empty = new Map<string, Entry[]>()
  for (const { state, candidate } of probed) {
    const { code, version, entry } = candidate
    const versions = found.get(code)
    if (state !== 'empty' || versions?.has(version)) continue
    if (entry.kind === 'directory' && versions === undefined) empty.set(code, [...(empty.get(code) ?? []), entry])
    else if (entry.kind === 'file') warnIn(source, coded('scan_no_tiles', { file: shownPath(source, entry) }))
    else if (version !== ONLY_VERSION && !isZoomFolder(entry) && versions !== undefined && !isTree(versions)) {
      if (!(await warnOfLayout(source, entry, list)))
        warnIn(source, coded('scan_no_tiles', { file: shownPath(source, entry) }))
    }
  }
  for (const [code, entries] of empty) {
    if (!(await warnOfLayouts(source, code, entries, list)))
      warnIn(source, coded('scan_no_tile_set', { folder: quoted(code) }))
  }
}

/** Warns of a basemap without versions: names the layout of its folder, or of each folder in it that has one. */
async function warnOfLayouts(source: WalkedPlace, code: string, entries: readonly Entry[], list: ListFolder) {
  const folder = pathBelow(source.root, code)
  if (await warnOfLayout(source, { path: folder }, list)) return true
  let isKnown = false
  for (const entry of entries) {
    if (entry.path !== folder) isKnown = (await warnOfLayout(source, entry, list)) || isKnown
  }
  return isKnown
}

async function warnOfLayout(source: WalkedPlace, folder: Pick<Entry, 'path'>, list: ListFolder): Promise<boolean> {
  const layout = await layoutOf(folder.path, list)
  if (layout !== null) warnIn(source, coded('scan_layout_not_served', { folder: shownPath(source, folder), layout }))
  return layout !== null
}

function shownPath({ root }: WalkedPlace, { path }: Pick<Entry, 'path'>): string {
  return quoted(relative(root, path))
}

function isTree(versions: ReadonlyMap<string, Named>): boolean {
  const storage = versions.get(ONLY_VERSION)?.record.storage
  return storage === 'xyz' || storage === 'tms' || (storage !== undefined && layoutNameOf(storage) !== null)
}
