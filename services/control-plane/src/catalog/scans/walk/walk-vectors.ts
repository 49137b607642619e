import { statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { VectorFacts, VectorKind } from '@gateway/contracts/vector.js'
import { fileIdentity } from '@gateway/files/file-identity.js'
import { examineGeojson } from '../../probe/geojson.js'
import { cleanJson } from '../../register/storable-text.js'
import { geojsonFacts } from '../../vector-facts/geojson.js'
import { shapefileFacts } from '../../vector-facts/shapefile.js'
import { type FoundVector, type FoundVectors, quoted } from './found.js'
import { type Entry, isGone, listEntries } from './list-entries.js'
import { type FilePart, fingerprintOf, partsByBase } from './shapefile-parts.js'
import { openSource, type WalkedSource, warnIn } from './walked-source.js'

/** What is known of a file already, by relative path: an unchanged file is not read again. */
export type KnownFingerprints = ReadonlyMap<string, string>

interface Walk {
  readonly source: WalkedSource
  readonly known: KnownFingerprints
  readonly vectors: FoundVector[]
}

/**
 * Finds the GeoJSON files and shapefiles of a source at any depth. A folder behind a link within the source is found under the link's
 * path too, but links inside of it are not followed any further, so that no loop is endless. Throws, with nothing found, where a
 * folder cannot be listed, a file cannot be read, or the source itself is not there.
 */
export function walkVectors(root: string, known: KnownFingerprints, progress: () => void): FoundVectors {
  const source = openSource(root, progress)
  const walk: Walk = { source, known, vectors: [] }
  const folders = [{ path: root, behindLink: false }]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = listEntries(source, folder.path)
    if (folder.path === root && entries.length === 0) {
      warnIn(source, 'the directory is empty; if it is a mount point, is the disk mounted?')
    }
    takeFiles(walk, folder.path, entries)
    for (const entry of entries) {
      if (entry.kind !== 'directory' || (folder.behindLink && entry.isLink)) continue
      folders.push({ path: entry.path, behindLink: folder.behindLink || entry.isLink })
    }
  }
  source.assertStillThere()
  return { vectors: walk.vectors, warnings: source.warnings }
}

function takeFiles(walk: Walk, folder: string, entries: readonly Entry[]): void {
  const files = entries.filter((entry) => entry.kind === 'file')
  const parts = partsByBase(files.map((entry) => entry.name))
  for (const entry of files) {
    const kind = kindOf(entry.name)
    if (kind === null) continue
    const base = entry.name.slice(0, -extname(entry.name).length)
    const names = kind === 'geojson' ? [entry.name] : [entry.name, ...(parts.get(base) ?? [])]
    takeVector(walk, entry, kind, base, statParts(folder, names))
  }
}

function kindOf(name: string): VectorKind | null {
  const extension = extname(name).toLowerCase()
  if (extension === '.shp') return 'shapefile'
  return extension === '.geojson' || extension === '.json' ? 'geojson' : null
}

/** Limit: characters of a relative path, which travels in addresses; edges refuse longer ones. */
const MAX_PATH = 2000

function takeVector(walk: Walk, entry: Entry, kind: VectorKind, base: string, parts: readonly FilePart[]): void {
  if (parts[0]?.name !== entry.name) return
  const { source } = walk
  const relativePath = relative(source.root, entry.path).split(sep).join('/')
  if (!canBeAddressed(relativePath)) {
    warnIn(
      source,
      `${quoted(relativePath)} is left out: its path is too long or holds control characters or backslashes`,
    )
    return
  }
  const fingerprint = fingerprintOf(parts)
  const isRead = walk.known.get(relativePath) === fingerprint
  if (kind === 'geojson' && !isRead && !isGeojson(source, entry, relativePath)) return
  if (kind === 'shapefile') warnOfMissingParts(source, relativePath, base, parts)
  walk.vectors.push({
    relativePath,
    fileName: entry.name,
    name: base,
    kind,
    path: entry.path,
    size: parts.reduce((sum, part) => sum + part.size, 0),
    modifiedAt: new Date(Math.max(...parts.map((part) => part.mtimeMs))),
    fingerprint,
    facts: isRead ? null : readFacts(source, entry, kind, parts),
  })
}

function readFacts(source: WalkedSource, entry: Entry, kind: VectorKind, parts: readonly FilePart[]): VectorFacts {
  if (kind === 'geojson') return cleanJson(geojsonFacts(source.root, entry.path, source.progress))
  source.progress()
  return cleanJson(shapefileFacts(source.root, entry.path, parts))
}

function canBeAddressed(relativePath: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
  return relativePath.length <= MAX_PATH && !/[\u0000-\u001f\u007f\\]/.test(relativePath)
}

/** In the order of the names; what has gone meanwhile is left out. */
function statParts(folder: string, names: readonly string[]): FilePart[] {
  return names.flatMap((name) => {
    try {
      const stat = statSync(join(folder, name), { bigint: true })
      return [{ name, size: Number(stat.size), mtimeMs: Number(stat.mtimeMs), identity: fileIdentity(stat) }]
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  })
}

function isGeojson(source: WalkedSource, entry: Entry, relativePath: string): boolean {
  source.progress()
  const finding = examineGeojson(source.root, entry.path)
  if (finding === 'geojson') return true
  // Many a .json is something else; a .geojson that is none is a mistake.
  if (finding === 'cut off')
    warnIn(source, `${quoted(relativePath)} is left out: it is cut off, or still being written`)
  else if (/\.geojson$/i.test(entry.name)) warnIn(source, `${quoted(relativePath)} is left out: it is not GeoJSON`)
  return false
}

function warnOfMissingParts(
  source: WalkedSource,
  relativePath: string,
  base: string,
  parts: readonly FilePart[],
): void {
  const have = new Set(parts.map((part) => part.name.slice(base.length + 1).toLowerCase()))
  const lacking = ['shx', 'dbf'].filter((extension) => !have.has(extension))
  if (lacking.length > 0) warnIn(source, `${quoted(relativePath)} lacks its .${lacking.join(' and .')}`)
}
