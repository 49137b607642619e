import { tmpdir } from 'node:os'
import { extname, relative, sep } from 'node:path'
import { coded, codeOfSentence } from '@gateway/contracts/messages.js'
import { cleanJson } from '@gateway/contracts/storable-text.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import type { KnownFile } from '@gateway/store/vectors.js'
import { type FilePart, fingerprintOf, partsByBase, partsIn } from '@gateway/vectors/source-parts.js'
import { Prober } from '../../probe/prober.js'
import { unreadable } from '../../probe/unreadable.js'
import { fileKindOf, TILE_IMAGE } from '../skipped/file-kinds.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { ChangedVectors } from './changed-vectors.js'
import { type FoundVectors, quoted } from './found.js'
import { type Entry, listEntries } from './list-entries.js'
import { readVector, type VectorRead } from './read-vector.js'
import { kindOf } from './vector-kinds.js'
import type { KnownFiles, ToRead, VectorWalk } from './vector-walk.js'
import { openSource, type WalkedSource, warnIn } from './walked-source.js'

/**
 * Finds the vectors of a source at any depth: files of every kind that `kindOf` knows. A folder behind a link within the source
 * is found under the link's path too, but links inside of it are not followed any further, so that no loop is endless. Throws, with nothing
 * found, where a folder cannot be listed, a file cannot be read, or the source itself is missing.
 * @param changed what a change of these paths below the source may have changed is looked at; null: everything is
 */
export async function walkVectors(
  root: string,
  known: KnownFiles,
  progress: () => void,
  { prober = new Prober(), scratch = tmpdir(), changed = null as readonly string[] | null } = {},
): Promise<FoundVectors> {
  const source = openSource(root, progress)
  const skipped = new SkippedFiles()
  const walk: VectorWalk = { source, known, prober, skipped, scratch, vectors: [] }
  try {
    if (changed === null) await takeFolders(walk, [root])
    else await takeChanged(walk, new ChangedVectors(changed))
  } finally {
    prober.end()
  }
  source.assertStillThere()
  skipped.warnOfAll(source.warnings)
  return { vectors: walk.vectors, warnings: source.warnings }
}

async function takeChanged(walk: VectorWalk, changed: ChangedVectors): Promise<void> {
  const { files, folders } = changed.find(walk.source)
  for (const [folder, entries] of files) await takeFiles(walk, folder, entries)
  await takeFolders(walk, folders)
}

async function takeFolders(walk: VectorWalk, first: readonly string[]): Promise<void> {
  const { source } = walk
  const { root } = source
  const folders = first.map((path) => ({ path, behindLink: false }))
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = listEntries(source, folder.path)
    if (folder.path === root && entries.length === 0) {
      warnIn(source, coded('scan_root_empty'))
    }
    await takeFiles(walk, folder.path, entries)
    for (const entry of entries) {
      if (entry.kind !== 'directory' || (folder.behindLink && entry.isLink)) continue
      // Reported once; otherwise every file of a File Geodatabase would be reported.
      if (extname(entry.name).toLowerCase() === '.gdb') skip(walk, pathIn(walk, entry.path))
      else folders.push({ path: entry.path, behindLink: folder.behindLink || entry.isLink })
    }
  }
}

async function takeFiles(walk: VectorWalk, folder: string, entries: readonly Entry[]): Promise<void> {
  const files = entries.filter((entry) => entry.kind === 'file')
  const parts = partsByBase(files.map((entry) => entry.name))
  const shapefiles = new Set(files.flatMap(({ name }) => (/\.(?:shp|tab)$/i.test(name) ? [baseOf(name)] : [])))
  for (const entry of files) {
    const kind = kindOf(entry.name)
    const base = baseOf(entry.name)
    if (kind === null) {
      const isPart = /\.(?:dbf|shx)$/i.test(entry.name) && shapefiles.has(base)
      if (!isPart) skip(walk, pathIn(walk, entry.path))
      continue
    }
    const names = kind === 'shapefile' ? [entry.name, ...(parts.get(base) ?? [])] : [entry.name]
    await takeVector(walk, entry, kind, base, partsIn(folder, names))
  }
}

function baseOf(name: string): string {
  return name.slice(0, name.length - extname(name).length)
}

function pathIn({ source }: VectorWalk, path: string): string {
  return relative(source.root, path).split(sep).join('/')
}

/** Reports a file that is not a vector by its name. Tiles in numbered folders count as one tile set. */
export function skip({ skipped }: Pick<VectorWalk, 'skipped'>, path: string): void {
  const isTile = TILE_IMAGE.test(path) && /(?:^|\/)\d+\/\d+\.\w+$/.test(path)
  const kind = isTile
    ? ({ code: 'scan_tiles_in_vector_source', format: extname(path).slice(1).toUpperCase() } as const)
    : fileKindOf(path.split('/').at(-1) ?? '')
  if (kind !== null) skipped.add(path, kind)
}

/** Limit: characters of a relative path, which travels in addresses; edges refuse longer ones. */
const MAX_PATH = 2000

async function takeVector(
  walk: VectorWalk,
  entry: Entry,
  kind: VectorKind,
  base: string,
  parts: readonly FilePart[],
): Promise<void> {
  if (parts[0]?.name !== entry.name) return
  const { source } = walk
  const relativePath = pathIn(walk, entry.path)
  if (!canBeAddressed(relativePath)) {
    warnIn(source, coded('scan_no_path', { file: quoted(relativePath) }))
    return
  }
  const fingerprint = fingerprintOf(parts)
  const known = walk.known.get(relativePath)
  const read =
    known?.fingerprint === fingerprint ? unchanged(known) : await readOrWarn(walk, { entry, kind, relativePath, parts })
  if (read === 'left out') return
  for (const { code, params } of read.warnings) warnIn(source, coded(code, { ...params, file: quoted(relativePath) }))
  if (kind === 'shapefile') warnOfMissingParts(source, relativePath, base, parts)
  walk.vectors.push({
    relativePath,
    fileName: entry.name,
    name: base,
    kind: read.kind,
    path: entry.path,
    size: parts.reduce((sum, part) => sum + part.size, 0),
    modifiedAt: new Date(Math.max(...parts.map((part) => part.mtimeMs))),
    fingerprint,
    facts: read.facts && cleanJson(read.facts),
  })
}

function unchanged({ kind, warnings }: KnownFile) {
  return { kind, facts: null, warnings }
}

/** Reads a file. Content that confuses a reader becomes a warning. */
async function readOrWarn(walk: VectorWalk, toRead: ToRead) {
  const read = await readVector(walk, toRead).catch((error: unknown): VectorRead => {
    const confused = unreadable(error)
    if (confused === null) throw error
    warnIn(
      walk.source,
      coded('scan_tells_nothing', { file: quoted(toRead.relativePath), reason: codeOfSentence(confused.why) }),
    )
    return { kind: toRead.kind, facts: null }
  })
  return read === 'left out' ? read : { ...read, warnings: read.facts?.warnings ?? [] }
}

export function canBeAddressed(relativePath: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
  return relativePath.length <= MAX_PATH && !/[\u0000-\u001f\u007f\\]/.test(relativePath)
}

function warnOfMissingParts(
  source: WalkedSource,
  relativePath: string,
  base: string,
  parts: readonly FilePart[],
): void {
  const have = new Set(parts.map((part) => part.name.slice(base.length + 1).toLowerCase()))
  const lacking = ['.shx', '.dbf'].filter((extension) => !have.has(extension.slice(1)))
  const [part, other] = lacking
  if (part === undefined) return
  const file = quoted(relativePath)
  warnIn(
    source,
    other === undefined ? coded('scan_part_missing', { file, part }) : coded('scan_parts_missing', { file }),
  )
}
