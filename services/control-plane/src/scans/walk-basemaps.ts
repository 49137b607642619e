import { realpath } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { codeSchema } from '@gateway/contracts/common.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { archiveStorageOf, probeTileSet } from '@gateway/tiles/probe.js'
import type { TileSetProbe } from '@gateway/tiles/tile-set.js'
import { type Entry, isGone, listEntries } from './entries.js'
import type { Examiner } from './examiner.js'
import { type FoundBasemap, type FoundBasemaps, quoted } from './found.js'

/** The label of a basemap's only version, where its place in the source names none. */
export const ONLY_VERSION = 'default'

interface Candidate {
  readonly code: string
  readonly version: string
  readonly entry: Entry
}

interface Looked {
  readonly candidate: Candidate
  readonly probe: TileSetProbe | null
  readonly uncertain: boolean
}

/**
 * Finds the basemaps of a source: `{code}/{version}/{z}/{x}/{y}`, `{code}/{version}.mbtiles|.pmtiles`, and with the only version
 * `default` `{code}/{z}/{x}/{y}`, `{code}.mbtiles|.pmtiles`. Lists folders, and looks into one tile or archive of each version.
 * Throws, with nothing found, where a folder cannot be listed or the source itself is not there.
 */
export async function walkBasemaps(root: string, examiner: Examiner, signal: AbortSignal): Promise<FoundBasemaps> {
  const realRoot = await realpath(root)
  const warnings: string[] = []
  const looked: Looked[] = []
  for (const candidate of await candidates(realRoot, root, warnings)) {
    signal.throwIfAborted()
    looked.push(await look(root, candidate, examiner, warnings))
  }
  return { ...gather(looked, warnings), warnings }
}

async function candidates(realRoot: string, root: string, warnings: string[]): Promise<Candidate[]> {
  const found: Candidate[] = []
  for (const entry of await listEntries(realRoot, root)) {
    const code = labelOf(entry)
    if (code === null) continue
    if (!isLabel(code, entry, warnings)) continue
    if (entry.kind === 'file') found.push({ code, version: ONLY_VERSION, entry })
    else found.push(...(await versionsIn(realRoot, code, entry, warnings)))
  }
  return found
}

/** What a folder named by a code holds: zoom folders of its only version, versions, or both. */
async function versionsIn(realRoot: string, code: string, folder: Entry, warnings: string[]): Promise<Candidate[]> {
  const entries = await listEntries(realRoot, folder.path).catch((error) => {
    if (isGone(error)) return []
    throw error
  })
  const found: Candidate[] = []
  if (entries.some(isZoomFolder)) found.push({ code, version: ONLY_VERSION, entry: folder })
  for (const entry of entries) {
    const version = labelOf(entry)
    if (version === null || !isLabel(version, entry, warnings)) continue
    if (version === CURRENT_VERSION) {
      warnings.push(
        `${quoted(`${code}/${entry.name}`)}: "${CURRENT_VERSION}" is an alias and cannot be a version's label`,
      )
      continue
    }
    found.push({ code, version, entry })
  }
  return found
}

/** `{z}` of a tile tree. It may as well be a version of that name: looking into it tells. */
function isZoomFolder(entry: Entry): boolean {
  return entry.kind === 'directory' && /^\d{1,2}$/.test(entry.name)
}

function labelOf(entry: Entry): string | null {
  if (entry.kind === 'directory') return entry.name
  return archiveStorageOf(entry.name) === null ? null : basename(entry.name, extname(entry.name))
}

function isLabel(label: string, entry: Entry, warnings: string[]): boolean {
  if (codeSchema.safeParse(label).success) return true
  warnings.push(
    `${quoted(entry.name)} cannot be a code or version: it must be one path segment of at most 200 characters`,
  )
  return false
}

async function look(root: string, candidate: Candidate, examiner: Examiner, warnings: string[]): Promise<Looked> {
  const { entry } = candidate
  const where = quoted(`${candidate.code}/${candidate.version}`)
  if (entry.kind === 'directory') {
    const probe = await probeTileSet(root, entry.path)
    warnings.push(...(probe?.warnings ?? []).map((warning) => `${where}: ${warning}`))
    return { candidate, probe, uncertain: false }
  }
  const finding = await examiner.examine({ kind: 'archive', root, path: entry.path })
  if (finding.state === 'ok') {
    warnings.push(...finding.probe.warnings.map((warning) => `${where}: ${warning}`))
    return { candidate, probe: finding.probe, uncertain: false }
  }
  if (finding.state !== 'empty') warnings.push(`${where}: ${finding.reason}`)
  // An archive that another program is writing at this moment is not gone.
  return { candidate, probe: null, uncertain: finding.state === 'unreadable' }
}

function gather(looked: readonly Looked[], warnings: string[]): Omit<FoundBasemaps, 'warnings'> {
  const byCode = new Map<string, Map<string, { version: NewVersion; name: string | null }>>()
  const uncertain: { code: string; version: string }[] = []
  for (const { candidate, probe, uncertain: unsure } of looked) {
    const { code, version, entry } = candidate
    if (unsure) uncertain.push({ code, version })
    if (probe === null) continue
    const versions = byCode.get(code) ?? new Map()
    byCode.set(code, versions)
    if (versions.has(version)) {
      warnings.push(`${quoted(`${code}/${version}`)} is there twice; ${quoted(entry.name)} is not served`)
    } else versions.set(version, { version: toVersion(version, entry.path, probe), name: probe.name })
  }
  const basemaps = [...byCode].map(([code, versions]): FoundBasemap => {
    const sorted = [...versions.values()].sort((a, b) => compareVersions(a.version.version, b.version.version))
    const name = sorted.findLast((entry) => entry.name !== null && entry.name !== '')?.name ?? code
    return { code, name, versions: sorted.map((entry) => entry.version) }
  })
  return { basemaps, uncertain }
}

/** What the store keeps of a version that was looked into. */
export function toVersion(version: string, path: string, probe: TileSetProbe): NewVersion {
  return {
    version,
    path,
    storage: probe.storage,
    format: probe.format,
    extension: probe.extension,
    tileSize: probe.tileSize,
    minZoom: probe.minZoom,
    maxZoom: probe.maxZoom,
    bounds: probe.bounds,
    attribution: probe.attribution,
    description: probe.description,
    vectorLayers: probe.vectorLayers,
    fingerprint: probe.fingerprint,
  }
}
