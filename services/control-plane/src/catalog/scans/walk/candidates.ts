import { basename, extname } from 'node:path'
import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { codeSchema } from '@gateway/contracts/common.js'
import { coded } from '@gateway/contracts/messages.js'
import { archiveStorageOf } from '@gateway/tilesets/probe.js'
import { type FileKind, fileKindOf } from '../skipped/file-kinds.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { quoted } from './found.js'
import type { Entry } from './list-entries.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

/** Label of a basemap's only version, if its place in the source names none. */
export const ONLY_VERSION = 'default'

/** A place that may contain a version. */
export interface Candidate {
  readonly code: string
  readonly version: string
  readonly entry: Entry
}

/** Lists a folder of a source, in a fixed order. */
export type ListFolder = (path: string) => readonly Entry[] | Promise<readonly Entry[]>

/**
 * Every place of a source that may hold a version, judged only by its name. A folder
 * without such a name is a place without an entry, in which a probe finds nothing. Files that are not archives are reported.
 * @param codes places of these codes; null: of all
 */
export async function findCandidates(
  source: WalkedPlace,
  list: ListFolder,
  codes: ReadonlySet<string> | null = null,
): Promise<Candidate[]> {
  const skipped = new SkippedFiles()
  const entries = await list(source.root)
  if (entries.length === 0) warnIn(source, coded('scan_root_empty'))
  const found = entries.map(async (entry) => {
    const code = labelOf(entry)
    if (codes !== null && !codes.has(code ?? entry.name)) return []
    if (code === null) skip(skipped, entry.name, entry.name)
    if (code === null || !isLabel(source, code, entry)) return []
    if (entry.kind === 'file') return [{ code, version: ONLY_VERSION, entry }]
    return versionsIn(source, code, entry, await list(entry.path), skipped)
  })
  const candidates = (await Promise.all(found)).flat()
  skipped.warnOfAll(source.warnings)
  return candidates
}

/** Reports a file in the place of an archive. Vector tiles count as tiles here, and images next to zoom folders are previews. */
function skip(skipped: SkippedFiles, path: string, name: string, isTree = false): boolean {
  const kind = IN_BASEMAP_SOURCE.get(extname(name).toLowerCase()) ?? fileKindOf(name)
  // Numeric names are those of tiles, whose layout is reported elsewhere.
  if (kind === null || /^\d+\.\w+$/.test(name) || (isTree && /\.(?:png|jpe?g|webp|gif)$/i.test(name))) return false
  skipped.add(path, kind)
  return true
}

/** Files with another meaning here than in a vector source. */
const IN_BASEMAP_SOURCE: ReadonlyMap<string, FileKind> = new Map([
  ['.tpk', { code: 'scan_package_not_served', format: 'Esri tile package' }],
  ['.sqlite', { code: 'scan_sqlite_in_basemap_source', format: 'SQLite' }],
  ['.sqlitedb', { code: 'scan_sqlite_in_basemap_source', format: 'SQLite' }],
  ['.db', { code: 'scan_sqlite_in_basemap_source', format: 'SQLite' }],
])

/** Finds the versions in a folder named by a code: zoom folders of its only version, versions, or both. */
function versionsIn(
  source: WalkedPlace,
  code: string,
  folder: Entry,
  entries: readonly Entry[],
  skipped: SkippedFiles,
): Candidate[] {
  if (entries.some(isPartOfCache)) return [{ code, version: ONLY_VERSION, entry: folder }]
  const found: Candidate[] = []
  const isTree = entries.some(isZoomFolder)
  let told = false
  if (isTree) found.push({ code, version: ONLY_VERSION, entry: folder })
  for (const entry of entries) {
    const version = labelOf(entry)
    if (version === null) told = skip(skipped, `${code}/${entry.name}`, entry.name, isTree) || told
    if (version === null || !isLabel(source, version, entry)) continue
    if (version === CURRENT_VERSION) {
      const name = quoted(`${code}/${entry.name}`)
      warnIn(source, coded('scan_alias', { file: name, alias: CURRENT_VERSION }))
      continue
    }
    found.push({ code, version, entry })
  }
  return found.length > 0 || told ? found : [{ code, version: ONLY_VERSION, entry: folder }]
}

/** True for parts of an Esri cache next to or above its tiles. The folder that contains them is one version. */
function isPartOfCache({ kind, name }: Entry): boolean {
  return kind === 'file' ? /^(?:conf\.xml|root\.json)$/.test(name) : /^(?:_alllayers|Layers|p12|L\d\d)$/.test(name)
}

/** True for `{z}` of a tile tree, or a version of that name; probing decides. */
export function isZoomFolder(entry: Entry): boolean {
  return entry.kind === 'directory' && /^\d{1,2}$/.test(entry.name)
}

function labelOf(entry: Entry): string | null {
  if (entry.kind === 'directory') return entry.name
  return archiveStorageOf(entry.name) === null ? null : basename(entry.name, extname(entry.name))
}

function isLabel(source: WalkedPlace, label: string, entry: Entry): boolean {
  if (codeSchema.safeParse(label).success) return true
  warnIn(source, coded('scan_no_code', { file: quoted(entry.name) }))
  return false
}
