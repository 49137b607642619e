import { statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { fileIdentity } from '@gateway/files/file-identity.js'
import type { ReadFacts } from '@gateway/store/vectors.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { examineGeojson } from '../../probe/geojson.js'
import { Prober } from '../../probe/prober.js'
import { unreadable } from '../../probe/unreadable.js'
import { cleanJson } from '../../register/storable-text.js'
import { flatgeobufFacts } from '../../vector-facts/flatgeobuf.js'
import { geojsonFacts } from '../../vector-facts/geojson.js'
import { shapefileFacts } from '../../vector-facts/shapefile.js'
import { type FoundVector, type FoundVectors, quoted } from './found.js'
import { type Entry, isGone, listEntries } from './list-entries.js'
import { type FilePart, fingerprintOf, partsByBase } from './shapefile-parts.js'
import { openSource, type WalkedSource, warnIn } from './walked-source.js'
import { whyNotRead } from './why-not-read.js'

/** What is known of a file already, by relative path: an unchanged file is not read again. */
export type KnownFingerprints = ReadonlyMap<string, string>

interface Walk {
  readonly source: WalkedSource
  readonly known: KnownFingerprints
  readonly prober: Prober
  readonly vectors: FoundVector[]
}

/** A walk is cancelled by killing its process, and with it the prober's. */
const NEVER = new AbortController().signal

/**
 * Finds the GeoJSON files, shapefiles, GeoPackages and FlatGeobuf files of a source at any depth. A folder behind a link within the source
 * is found under the link's path too, but links inside of it are not followed any further, so that no loop is endless. Throws, with nothing
 * found, where a folder cannot be listed, a file cannot be read, or the source itself is not there.
 */
export async function walkVectors(
  root: string,
  known: KnownFingerprints,
  progress: () => void,
  prober = new Prober(),
): Promise<FoundVectors> {
  const source = openSource(root, progress)
  const walk: Walk = { source, known, prober, vectors: [] }
  try {
    await takeFolders(walk)
  } finally {
    prober.end()
  }
  source.assertStillThere()
  return { vectors: walk.vectors, warnings: source.warnings }
}

async function takeFolders(walk: Walk): Promise<void> {
  const { source } = walk
  const { root } = source
  const folders = [{ path: root, behindLink: false }]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = listEntries(source, folder.path)
    if (folder.path === root && entries.length === 0) {
      warnIn(source, 'the directory is empty; if it is a mount point, is the disk mounted?')
    }
    await takeFiles(walk, folder.path, entries)
    for (const entry of entries) {
      if (entry.kind !== 'directory' || (folder.behindLink && entry.isLink)) continue
      folders.push({ path: entry.path, behindLink: folder.behindLink || entry.isLink })
    }
  }
}

async function takeFiles(walk: Walk, folder: string, entries: readonly Entry[]): Promise<void> {
  const files = entries.filter((entry) => entry.kind === 'file')
  const parts = partsByBase(files.map((entry) => entry.name))
  for (const entry of files) {
    const kind = kindOf(entry.name)
    if (kind === null) continue
    const base = entry.name.slice(0, -extname(entry.name).length)
    const names = kind === 'shapefile' ? [entry.name, ...(parts.get(base) ?? [])] : [entry.name]
    await takeVector(walk, entry, kind, base, statParts(folder, names))
  }
}

const KINDS: ReadonlyMap<string, VectorKind> = new Map([
  ['.geojson', 'geojson'],
  ['.json', 'geojson'],
  ['.shp', 'shapefile'],
  ['.gpkg', 'geopackage'],
  ['.fgb', 'flatgeobuf'],
])

export function kindOf(name: string): VectorKind | null {
  return KINDS.get(extname(name).toLowerCase()) ?? null
}

/** Limit: characters of a relative path, which travels in addresses; edges refuse longer ones. */
const MAX_PATH = 2000

async function takeVector(
  walk: Walk,
  entry: Entry,
  kind: VectorKind,
  base: string,
  parts: readonly FilePart[],
): Promise<void> {
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
  const facts = isRead ? null : await readFactsOrWarn(walk, { entry, kind, relativePath, parts })
  if (facts === 'left out') return
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
    facts: facts && cleanJson(facts),
  })
}

interface ToRead {
  readonly entry: Entry
  readonly kind: VectorKind
  readonly relativePath: string
  readonly parts: readonly FilePart[]
}

/** `readFacts`, but for what confuses a reader, of which nothing is told. */
async function readFactsOrWarn(walk: Walk, toRead: ToRead): Promise<ReadFacts | null | 'left out'> {
  try {
    return await readFacts(walk, toRead)
  } catch (error) {
    const confused = unreadable(error)
    if (confused === null) throw error
    warnIn(walk.source, `${quoted(toRead.relativePath)} tells nothing of itself: ${confused.why}`)
    return null
  }
}

/** null: not to be read now, so that the next scan tries again. What is not what its name says is left out, with a warning. */
async function readFacts(
  walk: Walk,
  { entry, kind, relativePath, parts }: ToRead,
): Promise<ReadFacts | null | 'left out'> {
  const { source } = walk
  const { root } = source
  source.progress()
  switch (kind) {
    case 'geojson':
      if (!isGeojson(source, entry, relativePath)) return 'left out'
      return geojsonFacts(root, entry.path, source.progress)
    case 'shapefile':
      return shapefileFacts(root, entry.path, parts)
    case 'geopackage':
      return readGeopackage(walk, entry, relativePath)
    case 'flatgeobuf':
      try {
        return flatgeobufFacts(root, entry.path) ?? 'left out'
      } catch (error) {
        if (!(error instanceof BrokenArchiveError)) throw error
        warnIn(source, `${quoted(relativePath)} is left out: ${error.message}`)
        return 'left out'
      }
  }
}

async function readGeopackage(
  { source, prober }: Walk,
  { path }: Entry,
  relativePath: string,
): Promise<ReadFacts | null | 'left out'> {
  const where = quoted(relativePath)
  const result = await prober.probeGeopackage(source.root, path, NEVER).catch((error: Error) => {
    throw new Error(`${where}: ${error.message}`, { cause: error })
  })
  switch (result.state) {
    case 'ok':
      if (hasUnwritten(path))
        warnIn(source, `${where} is open in another program: what that has not written into it yet is not served`)
      return result.probe
    case 'broken':
      warnIn(source, `${where} is left out: ${result.why}`)
      return 'left out'
    case 'empty':
      return 'left out'
    default:
      warnIn(source, `${where} tells nothing of itself: ${whyNotRead(result)}`)
      return null
  }
}

/** SQLite's write-ahead log: what is in it reaches the file itself when the program that writes ends. */
function hasUnwritten(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

export function canBeAddressed(relativePath: string): boolean {
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
