import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import type { Entry, ZipFile } from 'yauzl'
import { concurrently } from '../../platform/files/concurrently.js'
import { syncFolder } from '../../platform/files/stage.js'
import type { Slot } from './upload.js'

/** Maximum number of entries in an archive. Each file takes an inode and a directory entry, however few bytes it declares. */
const MAX_FILES = 5_000_000
const PARALLEL_FILES = 8
/** Maximum unpacked bytes for each byte of an archive, above a size that any may have. Real data shrinks to a tenth; a bomb to a thousandth. */
const MAX_RATIO = 200
const ALWAYS_UNPACKED = 64 * 1024 * 1024

export interface Contents {
  readonly ok: true
  readonly kind: Slot['kind']
  readonly place: string
  readonly files: number
  /** unpacked size */
  readonly bytes: number
}

/** Returns the place of an entry. `leftover`: it is skipped; null: it does not belong to the upload. */
type SlotOf = (name: string) => Slot | 'leftover' | null

/** A defective or malicious archive. */
class BadArchive extends CodedError {
  override readonly name = 'BadArchive'
}

/** Returns the names of the plain files in a zip. */
export async function archiveNames(
  file: string,
): Promise<{ readonly ok: true; readonly names: readonly string[] } | Refusal> {
  return guarded(async () => {
    const names: string[] = []
    await eachFile(file, async (_zip, entry) => void names.push(entry.fileName))
    return { ok: true, names }
  })
}

/**
 * Reads only the directory of a zip. Every entry must be a plain file or folder that belongs to the upload. All entries must have the same place,
 * and at most `maxBytes` unpacked in total, in proportion to its size. If an entry's local header disagrees, unpacking detects it.
 */
export async function examineArchive(file: string, slotOf: SlotOf, maxBytes: number): Promise<Contents | Refusal> {
  return guarded(async () => {
    const seen: { first: Slot | null; files: number; bytes: number } = { first: null, files: 0, bytes: 0 }
    await eachFile(file, async (zip, entry) => {
      const slot = slotOf(entry.fileName)
      if (slot === 'leftover') return
      if (slot === null) throw new BadArchive(coded('archive_foreign_entry', { entry: shortened(entry.fileName) }))
      const most = Math.min(maxBytes, Math.max(ALWAYS_UNPACKED, zip.fileSize * MAX_RATIO))
      seen.first ??= slot
      if (slot.place !== seen.first.place) throw new BadArchive(coded('archive_two_storages'))
      seen.files++
      seen.bytes += entry.uncompressedSize
      if (seen.bytes > most) throw new BadArchive(coded('archive_too_large', { bytes: most }))
    })
    if (seen.first === null) throw new BadArchive(coded('archive_empty'))
    return { ok: true, kind: seen.first.kind, place: seen.first.place, files: seen.files, bytes: seen.bytes }
  })
}

/** Only the user of the services reads imports. */
const PRIVATE_FOLDER = { mode: 0o700 }
const PRIVATE_FILE = 0o600

/** Unpacks an examined archive into a new folder, with every byte checked and synced. Returns the names, relative to the folder. */
export async function unpackArchive(
  file: string,
  slotOf: SlotOf,
  folder: string,
): Promise<{ readonly ok: true; readonly names: readonly string[] } | Refusal> {
  return guarded(async () => {
    const names: string[] = []
    const folders = new Set<string>([folder])
    await mkdir(folder, PRIVATE_FOLDER)
    await eachFile(file, async (zip, entry) => {
      const slot = slotOf(entry.fileName)
      if (slot === 'leftover') return
      if (slot === null) throw new BadArchive(coded('archive_foreign_entry', { entry: shortened(entry.fileName) }))
      names.push(slot.name)
      const target = path.join(folder, slot.name)
      await mkdir(path.dirname(target), { recursive: true, ...PRIVATE_FOLDER })
      folders.add(path.dirname(target))
      await extract(zip, entry, target)
    })
    for (const one of folders) await syncFolder(one)
    return { ok: true, names }
  })
}

/** `wx` detects two entries of one name. yauzl enforces the declared size, and this function checks the checksum. */
async function extract(zip: ZipFile, entry: Entry, target: string): Promise<void> {
  const output = await open(target, 'wx', PRIVATE_FILE)
  try {
    let checksum = 0
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      checksum = crc32(chunk, checksum)
      await output.writeFile(chunk)
    }
    if (checksum !== entry.crc32)
      throw new BadArchive(coded('archive_entry_damaged', { entry: shortened(entry.fileName) }))
    await output.sync()
  } finally {
    await output.close()
  }
}

async function eachFile(file: string, work: (zip: ZipFile, entry: Entry) => Promise<void>): Promise<void> {
  const { openPromise } = await import('yauzl')
  const zip = await openPromise(file, { autoClose: false, strictFileNames: true, validateEntrySizes: true }).catch(
    (error: Error) => {
      throw new BadArchive(coded('archive_no_zip', { reason: error.message }))
    },
  )
  try {
    // Folders count too, although they have no slot: no more entries are read than are declared.
    if (zip.entryCount > MAX_FILES) throw new BadArchive(coded('archive_too_many_files', { files: MAX_FILES }))
    await concurrently(plainFiles(zip), PARALLEL_FILES, (entry) => work(zip, entry))
  } finally {
    zip.close()
  }
}

async function* plainFiles(zip: ZipFile): AsyncGenerator<Entry> {
  for await (const entry of zip.eachEntry()) {
    const type = (entry.externalFileAttributes >>> 16) & 0o170000
    if (type !== 0 && type !== 0o100000 && type !== 0o040000) {
      throw new BadArchive(coded('archive_entry_link', { entry: shortened(entry.fileName) }))
    }
    if (entry.isEncrypted())
      throw new BadArchive(coded('archive_entry_encrypted', { entry: shortened(entry.fileName) }))
    if (!entry.fileName.endsWith('/')) yield entry
  }
}

/** Returns a refusal for a bad archive, which is the sender's fault. Rethrows errors such as a full disk. */
async function guarded<T extends { readonly ok: true }>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BadArchive) return refuse('invalid_parameters', error.said)
    const { code, message } = error as NodeJS.ErrnoException
    if (isDiskFull(error)) return refuse('dependency_down', coded('disk_full'))
    if (code === 'EEXIST' || code === 'ENOTDIR') return refuse('invalid_parameters', coded('archive_name_twice'))
    // yauzl and zlib report a bad archive by plain errors, and Node refuses positions outside a file. Errors with other codes are failures of this
    // machine.
    if (code === undefined || code.startsWith('Z_') || code === 'ERR_OUT_OF_RANGE')
      return refuse('invalid_parameters', coded('archive_damaged', { reason: message }))
    throw error
  }
}

const shortened = (name: string) => JSON.stringify(name.slice(0, 100))
