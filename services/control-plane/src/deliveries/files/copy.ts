import { mkdir, open, readdir, realpath, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { concurrently } from '../../platform/files/concurrently.js'
import { land, prepareLanding } from '../../platform/files/landing.js'
import { syncFolder } from '../../platform/files/stage.js'
import { failure, type Outcome, success } from '../outcome.js'
import type { Bundle, BundleFile } from './bundle.js'
import { chunksOf, openSource } from './open-source.js'

/** Maximum number of files that are copied at the same time: the disk can sort its queue, and one fsync waits while others write. */
const PARALLEL_FILES = 8

export const NO_DIRECTORY = failure(coded('delivery_no_directory'))

export interface CopyTask {
  readonly bundle: Bundle
  /** existing directory of the receiver */
  readonly target: string
  /** id of the delivery, and a number that is new for each attempt */
  readonly id: string
  readonly turn: number
}

/**
 * Copies a bundle into a directory so that its reader sees all of it or nothing: into a folder next to the place, with every byte synced
 * and counted, followed by a rename. An existing version is replaced, in any storage form. A failure leaves nothing behind.
 */
export async function copyBundle(task: CopyTask, signal: AbortSignal): Promise<Outcome> {
  const { bundle, target, id, turn } = task
  if (!(await isDirectory(target))) return NO_DIRECTORY
  if (await isSame(bundle, target)) return failure(coded('delivery_own_directory'))
  const landing = await prepareLanding({ root: target, kind: bundle.kind, place: bundle.place }, id, turn)
  const base = bundle.kind === 'folder' ? bundle.place : path.posix.dirname(bundle.place)
  try {
    const copied = await copyAll(bundle, base, landing.stage.folder, signal)
    if (copied.names.length === 0) return failure(coded('delivery_nothing_to_copy'))
    signal.throwIfAborted()
    await land(landing, copied.names)
    return success(coded('delivery_files_in_place', { count: copied.names.length, bytes: copied.bytes }))
  } finally {
    await rm(landing.stage.folder, { recursive: true, force: true })
  }
}

interface Copied {
  /** relative to the stage, in the order of the bundle */
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
    const copied = await copyFile(bundle, file, copy, signal)
    bytes += copied
  })
  for (const one of folders) await syncFolder(one)
  await assertComplete(folder, names.length)
  return { names, bytes }
}

/** Returns the number of synced bytes, which equals the size of the source when it was opened. */
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
    if (size !== source.size)
      throw new CodedError(coded('delivery_file_not_whole', { file: file.name, copied: size, bytes: source.size }))
    return size
  } finally {
    await output.close()
  }
}

async function assertComplete(folder: string, files: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile()).length
  if (found !== files) throw new CodedError(coded('delivery_files_missing', { found, count: files }))
}

/** True if the destination already is the source itself. */
async function isSame(bundle: Bundle, target: string): Promise<boolean> {
  for await (const file of bundle.files()) {
    return (await realOrSelf(path.join(target, file.name))) === (await realOrSelf(file.path))
  }
  return false
}

const realOrSelf = (file: string) => realpath(file).catch(() => file)

export async function isDirectory(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
