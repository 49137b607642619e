import fs from 'node:fs'
import { finished } from 'node:stream/promises'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { ZipArchive } from 'archiver'

export interface ZipTask {
  /** Path of the output; the caller renames it. */
  readonly target: string
  readonly entries: readonly ZipEntry[]
}

/** An open file, or a text. */
export type ZipEntry = { readonly name: string; readonly mtimeMs: number } & (
  | { readonly fd: number; readonly size: number }
  | { readonly content: string }
)

export type ZipResult = 'built' | 'no_space'

/** The default of zlib: a higher level makes shapefiles hardly smaller and takes twice as long. */
const LEVEL = 6
const FILE_MODE = 0o644

/**
 * Packs open files into a zip; runs in a worker thread. The same files yield the same bytes: order, dates and modes come only from the
 * task, and dates are written in UTC. The descriptors stay open. Rejects with the disk's error, but resolves for a full disk, because
 * errors lose their codes between threads.
 */
export default async function buildZip(task: ZipTask): Promise<ZipResult> {
  try {
    await pack(task)
    return 'built'
  } catch (error) {
    if (isDiskFull(error)) return 'no_space'
    throw error
  }
}

async function pack(task: ZipTask): Promise<void> {
  const archive = new ZipArchive({ zlib: { level: LEVEL } })
  const output = fs.createWriteStream(task.target, { flags: 'wx' })
  const written = finished(output)
  const failed = new Promise<never>((_, reject) => archive.once('error', reject))
  archive.pipe(output)
  for (const entry of task.entries) {
    archive.append(sourceOf(entry), { name: entry.name, date: new Date(entry.mtimeMs), mode: FILE_MODE })
  }
  const finalized = archive.finalize()
  await Promise.race([Promise.all([finalized, written]), failed, written])
}

function sourceOf(entry: ZipEntry): Buffer | fs.ReadStream {
  if ('content' in entry) return Buffer.from(entry.content)
  const { fd, size } = entry
  return size === 0 ? Buffer.alloc(0) : fs.createReadStream('', { fd, start: 0, end: size - 1, autoClose: false })
}
