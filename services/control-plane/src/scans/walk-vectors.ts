import { realpath, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { type Entry, isGone, listEntries } from './entries.js'
import type { Examiner } from './examiner.js'
import { type FoundVector, type FoundVectors, quoted } from './found.js'
import { type FilePart, fingerprintOf, isPartOf } from './shapefile.js'

/** Deeper trees are taken for a mistake, such as a link that leads back up. */
const MAX_DEPTH = 64

/** What is known of a file already, by relative path: an unchanged one is not looked into again. */
export type KnownFingerprints = ReadonlyMap<string, string>

interface Walk {
  readonly root: string
  readonly realRoot: string
  readonly examiner: Examiner
  readonly known: KnownFingerprints
  readonly signal: AbortSignal
  readonly seen: Set<string>
  readonly vectors: FoundVector[]
  readonly warnings: string[]
}

/**
 * Finds the GeoJSON files and shapefiles of a source at any depth. Throws, with nothing found, where a folder cannot be listed, a file
 * cannot be read, or the source itself is not there.
 */
export async function walkVectors(
  root: string,
  examiner: Examiner,
  known: KnownFingerprints,
  signal: AbortSignal,
): Promise<FoundVectors> {
  const realRoot = await realpath(root)
  const walk: Walk = { root, realRoot, examiner, known, signal, seen: new Set(), vectors: [], warnings: [] }
  await walkDirectory(walk, root, 0)
  return { vectors: walk.vectors, warnings: walk.warnings }
}

async function walkDirectory(walk: Walk, directory: string, depth: number): Promise<void> {
  walk.signal.throwIfAborted()
  const real = await realpath(directory)
  // A folder that two links lead to is walked once, and a loop ends.
  if (walk.seen.has(real)) return
  walk.seen.add(real)
  if (depth > MAX_DEPTH) {
    walk.warnings.push(`${quoted(relative(walk.root, directory))} lies too deep and was left out`)
    return
  }
  const entries = await listEntries(walk.realRoot, directory)
  for (const entry of entries) {
    if (entry.kind === 'file') await takeFile(walk, entry, entries)
    else await walkDirectory(walk, entry.path, depth + 1)
  }
}

async function takeFile(walk: Walk, entry: Entry, siblings: readonly Entry[]): Promise<void> {
  const extension = extname(entry.name).toLowerCase()
  const kind: VectorKind | null =
    extension === '.shp' ? 'shapefile' : extension === '.geojson' || extension === '.json' ? 'geojson' : null
  if (kind === null) return
  const relativePath = relative(walk.root, entry.path).split(sep).join('/')
  // A name that is not UTF-8 comes back with replacement characters, and can be neither asked for nor opened.
  if (relativePath.includes('\uFFFD') || relativePath.length > MAX_PATH) {
    walk.warnings.push(`${quoted(relativePath)}: the name is not UTF-8 or too long`)
    return
  }
  const base = entry.name.slice(0, -extension.length)
  const names = kind === 'geojson' ? [entry.name] : partsOf(base, siblings)
  const parts = await statParts(join(entry.path, '..'), names)
  if (!parts.some((part) => part.name === entry.name)) return
  const fingerprint = fingerprintOf(parts)
  if (kind === 'geojson' && !(await isGeojson(walk, entry, relativePath, fingerprint, extension))) return
  if (kind === 'shapefile') warnOfMissingParts(walk, relativePath, base, parts)
  walk.vectors.push({
    relativePath,
    fileName: entry.name,
    name: base,
    kind,
    path: entry.path,
    size: parts.reduce((sum, part) => sum + part.size, 0),
    modifiedAt: new Date(Math.max(...parts.map((part) => part.mtimeMs))),
    fingerprint,
  })
}

/** Limit: the length of a relative path, which travels in addresses. */
const MAX_PATH = 2000

function partsOf(base: string, siblings: readonly Entry[]): string[] {
  return siblings.filter((entry) => entry.kind === 'file' && isPartOf(base, entry.name)).map((entry) => entry.name)
}

async function statParts(directory: string, names: readonly string[]): Promise<FilePart[]> {
  const parts: FilePart[] = []
  for (const name of names) {
    try {
      const { size, mtimeMs } = await stat(join(directory, name))
      parts.push({ name, size, mtimeMs })
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  return parts
}

async function isGeojson(walk: Walk, entry: Entry, relativePath: string, fingerprint: string, extension: string) {
  if (walk.known.get(relativePath) === fingerprint) return true
  const yes = await walk.examiner.examine({ kind: 'geojson', root: walk.root, path: entry.path })
  // Many a .json is something else; a .geojson that is none is a mistake.
  if (!yes && extension === '.geojson') walk.warnings.push(`${quoted(relativePath)} is not GeoJSON`)
  return yes
}

function warnOfMissingParts(walk: Walk, relativePath: string, base: string, parts: readonly FilePart[]): void {
  const have = new Set(parts.map((part) => part.name.slice(base.length + 1).toLowerCase()))
  const lacking = ['shx', 'dbf'].filter((extension) => !have.has(extension))
  if (lacking.length > 0) walk.warnings.push(`${quoted(relativePath)} lacks its .${lacking.join(' and .')}`)
}
