import { mkdir, open, readdir, realpath, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { failure, type Outcome, success } from '../outcome.js'
import type { Bundle, BundleFile } from './bundle.js'
import { concurrently } from './concurrently.js'
import { chunksOf, openSource } from './open-source.js'
import { assertBelow, clearStages, placeFiles, placeFolder, stageIn, syncFolder } from './place.js'

/** Files copied at a time: the disk's own queue gets something to sort, and one fsync waits while others write. */
const PARALLEL_FILES = 8

export interface CopyTask {
  readonly bundle: Bundle
  /** the receiver's directory; it must exist */
  readonly target: string
  /** the delivery, and a number that is new for each of its attempts */
  readonly id: string
  readonly turn: number
}

/**
 * Copies a bundle into a directory so that its reader sees all of it or nothing: into a folder beside the place, every byte on the disk
 * and counted, then renamed. A version that was there before is replaced, in whatever storage it was. Nothing is left behind by a failure.
 */
export async function copyBundle(task: CopyTask, signal: AbortSignal): Promise<Outcome> {
  const { bundle, target, id, turn } = task
  if (!(await isDirectory(target))) return failure('the target directory is not there')
  const place = insideOf(target, bundle.place)
  if (await isSame(bundle, place)) return failure('the target directory is where the data itself lies')
  const parent = path.dirname(place)
  await makeFolder(target, parent)
  const base = bundle.kind === 'folder' ? bundle.place : path.posix.dirname(bundle.place)
  const stage = stageIn(parent, id, turn)
  await clearStages(parent, id, place)
  try {
    const copied = await copyAll(bundle, base, stage.folder, signal)
    if (copied.names.length === 0) return failure('there are no files to copy')
    signal.throwIfAborted()
    if (bundle.kind === 'folder') await placeFolder(stage, place)
    else await placeFiles(stage, parent, copied.names)
    await removeSuperseded(bundle, parent, copied.names)
    return success(`${copied.names.length} files, ${copied.bytes} bytes in place`)
  } finally {
    await rm(stage.folder, { recursive: true, force: true })
  }
}

interface Copied {
  /** relative to the stage, in the bundle's order */
  readonly names: readonly string[]
  readonly bytes: number
}

async function copyAll(bundle: Bundle, base: string, folder: string, signal: AbortSignal): Promise<Copied> {
  const names: string[] = []
  const folders = new Set<string>()
  let bytes = 0
  await mkdir(folder, { recursive: true })
  folders.add(folder)
  await concurrently(bundle.files(), PARALLEL_FILES, async (file) => {
    signal.throwIfAborted()
    const name = path.posix.relative(base, file.name)
    names.push(name)
    const copy = path.join(folder, name)
    if (!folders.has(path.dirname(copy))) {
      await mkdir(path.dirname(copy), { recursive: true })
      folders.add(path.dirname(copy))
    }
    bytes += await copyFile(bundle, file, copy, signal)
  })
  for (const one of folders) await syncFolder(one)
  await assertComplete(folder, names.length)
  return { names, bytes }
}

/** Answers the bytes that are on the disk, which are as many as the source had when it was opened. */
async function copyFile(bundle: Bundle, file: BundleFile, copy: string, signal: AbortSignal): Promise<number> {
  const source = await openSource(bundle, file)
  const output = await open(copy, 'wx')
  try {
    for await (const chunk of chunksOf(file.name, source)) {
      signal.throwIfAborted()
      await output.writeFile(chunk)
    }
    await output.sync()
    const { size } = await output.stat()
    if (size !== source.size) throw new Error(`${file.name} was not copied whole: ${size} of ${source.size} bytes`)
    return size
  } finally {
    await output.close()
  }
}

async function assertComplete(folder: string, files: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile()).length
  if (found !== files) throw new Error(`${found} of ${files} files are in place`)
}

/** What the receiver would otherwise find beside the new data and take for the same thing. */
async function removeSuperseded(bundle: Bundle, parent: string, names: readonly string[]): Promise<void> {
  const place = path.basename(bundle.place)
  for (const name of await readdir(parent)) {
    if (names.includes(name) || (bundle.kind === 'folder' && name === place)) continue
    if (isSuperseded(bundle, place, name)) await rm(path.join(parent, name), { recursive: true })
  }
}

function isSuperseded(bundle: Bundle, place: string, name: string): boolean {
  const base = place.replace(/\.[^.]+$/, '')
  if (place.endsWith('.shp')) return isPartOfShapefile(base, name)
  const version = /\.(mbtiles|pmtiles)$/.test(place) ? base : bundle.kind === 'folder' ? place : null
  return version !== null && [version, `${version}.mbtiles`, `${version}.pmtiles`].includes(name)
}

async function makeFolder(target: string, folder: string): Promise<void> {
  // Each on its own, so that none is made behind a link that leads elsewhere.
  let current = target
  for (const segment of path.relative(target, folder).split(path.sep).filter(Boolean)) {
    current = path.join(current, segment)
    await mkdir(current).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await assertBelow(target, current)
  }
}

/** The place below the target. The catalog's names are file names already; that they cannot climb is proven here all the same. */
function insideOf(target: string, place: string): string {
  const resolved = path.resolve(target, place)
  if (place.split('/').some((segment) => segment === '..' || segment === '.' || segment === '')) {
    throw new Error('the name of the data cannot be used as a path')
  }
  return resolved
}

/** Whether the place is the very directory or file that is to be copied. */
async function isSame(bundle: Bundle, place: string): Promise<boolean> {
  for await (const file of bundle.files()) {
    const here = path.join(place, path.posix.relative(bundle.place, file.name))
    return (await realOrSelf(here)) === (await realOrSelf(file.path))
  }
  return false
}

const realOrSelf = (file: string) => realpath(file).catch(() => file)

async function isDirectory(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
