import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type FileVersion, fileIdentity } from './file-identity.js'
import { isKnownToLieBelow, liesBelow, liesBelowLater } from './real-root.js'

/** A plain file that was opened for reading and proven to lie below its root. */
interface ProvenFile {
  readonly ok: true
  /** bytes */
  readonly size: number
  /** modification time, milliseconds since 1970, whole */
  readonly mtimeMs: number
  readonly ino: bigint
  /** see `fileIdentity` */
  readonly identity: string
  /** where the file is, all symbolic links resolved */
  readonly realPath: string
}

/** Whoever got it closes `fd`. */
export interface OpenedFile extends ProvenFile {
  readonly fd: number
}

/** A small file that was read whole and closed again. */
export interface ReadFile extends ProvenFile {
  readonly content: Uint8Array
}

/**
 * `absent`: nothing of that name. `outside`: it leads out of the root. `not_a_file`: a directory, FIFO, socket or device.
 * `unreadable`: permission is missing.
 */
export interface NotOpened {
  readonly ok: false
  readonly reason: 'absent' | 'outside' | 'not_a_file' | 'unreadable'
}

export type Opening = OpenedFile | NotOpened

/** What the kernel had of a file in memory: `CachedFiles.open` of @gateway/sendfile says more. */
export interface CachedLook extends FileVersion {
  readonly realPath: string
  readonly isFile: boolean
  readonly fd: number | null
  readonly content: Uint8Array | null
}

/** O_NONBLOCK: a FIFO must not hold the process until somebody writes into it. O_NOCTTY: nor may a terminal become ours. */
const OPEN_FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0) | (fs.constants.O_NOCTTY ?? 0)

/** Linux tells where an open file is; elsewhere the path is resolved again and must lead to the same file. */
const HAS_PROC = fs.existsSync('/proc/self/fd')

const NS_PER_MS = 1_000_000n

const openAsync = promisify(fs.open)
const fstatAsync = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<fs.BigIntStats>
const closeAsync = promisify(fs.close)

/**
 * Opens a plain file below `root` for reading. `file` is absolute or relative to `root`; symbolic links are followed, and where the
 * opened file then really is decides. It is opened first and looked at after, so that nobody can swap a link between the two.
 * Throws what says nothing about the file (EIO, ESTALE, EMFILE ...): such an error is never taken for `absent`.
 */
export function openBelowSync(root: string, file: string): Opening {
  const target = path.resolve(root, file)
  let fd: number
  try {
    fd = fs.openSync(target, OPEN_FLAGS)
  } catch (error) {
    return refusalOf(error)
  }
  let opening: Opening | undefined
  try {
    const stat = fs.fstatSync(fd, { bigint: true })
    const real = HAS_PROC ? fs.readlinkSync(`/proc/self/fd/${fd}`) : resolveAgain(target, stat)
    opening = withDescriptor(fd, judge(stat, stat.isFile(), real, real !== null && liesBelow(root, real)))
    return opening
  } finally {
    if (opening?.ok !== true) fs.closeSync(fd)
  }
}

/** `openBelowSync` without holding the event loop: for cold files and slow file systems. */
export async function openBelow(root: string, file: string): Promise<Opening> {
  const target = path.resolve(root, file)
  let fd: number
  try {
    fd = await openAsync(target, OPEN_FLAGS)
  } catch (error) {
    return refusalOf(error)
  }
  let opening: Opening | undefined
  try {
    const stat = await fstatAsync(fd, { bigint: true })
    // At once: the kernel knows it by heart and asks no disk.
    const real = HAS_PROC ? fs.readlinkSync(`/proc/self/fd/${fd}`) : resolveAgain(target, stat)
    const isInside = real !== null && (await liesBelowLater(root, real))
    opening = withDescriptor(fd, judge(stat, stat.isFile(), real, isInside))
    return opening
  } finally {
    if (opening?.ok !== true) await closeAsync(fd)
  }
}

/**
 * `openBelowSync` that never waits for a disk, by a `look` that does not either: small files come read. null: this could not be told now,
 * which says nothing about the file; `openBelow` may wait.
 */
export function openBelowCached(
  look: (file: string) => CachedLook | 'absent' | 'not_now',
  root: string,
  file: string,
): OpenedFile | ReadFile | NotOpened | null {
  const found = look(path.resolve(root, file))
  if (found === 'absent') return { ok: false, reason: 'absent' }
  if (found === 'not_now') return null
  const { fd, content, realPath } = found
  // Where a root is now is a question to its disk.
  const judged = isKnownToLieBelow(root, realPath) ? judge(found, found.isFile, realPath, true) : null
  if (judged?.ok === true) return content === null ? { ...judged, fd: fd as number } : { ...judged, content }
  if (fd !== null) fs.closeSync(fd)
  return judged
}

/** The one judgement of what was opened. */
function judge(file: FileVersion, isFile: boolean, realPath: string | null, isInside: boolean): ProvenFile | NotOpened {
  if (realPath === null) return { ok: false, reason: 'absent' }
  if (!isInside) return { ok: false, reason: 'outside' }
  if (!isFile) return { ok: false, reason: 'not_a_file' }
  return {
    ok: true,
    size: Number(file.size),
    mtimeMs: Number(file.mtimeNs / NS_PER_MS),
    ino: file.ino,
    identity: fileIdentity(file),
    realPath,
  }
}

function withDescriptor(fd: number, judged: ProvenFile | NotOpened): Opening {
  return judged.ok ? { ...judged, fd } : judged
}

/** The real path of `target` where it still leads to the opened file; null where it was swapped meanwhile. */
function resolveAgain(target: string, opened: fs.BigIntStats): string | null {
  try {
    const real = fs.realpathSync.native(target)
    const now = fs.statSync(real, { bigint: true })
    return now.ino === opened.ino && now.dev === opened.dev ? real : null
  } catch (error) {
    refusalOf(error)
    return null
  }
}

function refusalOf(error: unknown): NotOpened {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'ERR_INVALID_ARG_VALUE': // a NUL in the name
      return { ok: false, reason: 'absent' }
    case 'EACCES':
    case 'EPERM':
      return { ok: false, reason: 'unreadable' }
    case 'ENXIO': // a socket, or a device without a driver
    case 'ENODEV':
    case 'EISDIR': // Windows refuses to open a directory
      return { ok: false, reason: 'not_a_file' }
    default:
      throw error
  }
}
