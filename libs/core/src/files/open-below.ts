import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { fileCall } from './paced-calls.js'
import { liesBelow, liesBelowLater } from './real-root.js'

/** A plain file that is open for reading and verified to be below its root. The caller closes `fd`. */
export interface OpenedFile {
  readonly ok: true
  readonly fd: number
  /** bytes */
  readonly size: number
  /** modification time in whole milliseconds since 1970 */
  readonly mtimeMs: number
  readonly ino: bigint
  /** see `fileIdentity` */
  readonly identity: string
  /** path of the file with all symbolic links resolved */
  readonly realPath: string
}

/**
 * `absent`: the name does not exist. `outside`: it leads out of the root. `not_a_file`: a directory, FIFO, socket or device.
 * `unreadable`: permission is missing.
 */
export interface NotOpened {
  readonly ok: false
  readonly reason: 'absent' | 'outside' | 'not_a_file' | 'unreadable'
}

export type Opening = OpenedFile | NotOpened

/** O_NONBLOCK: opening a FIFO must not block until a writer comes. O_NOCTTY: a terminal must not become the controlling one. */
const OPEN_FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0) | (fs.constants.O_NOCTTY ?? 0)

/** Linux reports the path of an open file. Elsewhere the path is resolved again, and must lead to the same file. */
const HAS_PROC = fs.existsSync('/proc/self/fd')

const NS_PER_MS = 1_000_000n

const openAsync = promisify(fs.open)
const fstatAsync = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<fs.BigIntStats>
const closeAsync = promisify(fs.close)

/**
 * Opens a plain file below `root` for reading. `file` is absolute or relative to `root`. Symbolic links are followed, and the real path of the
 * opened file decides. The file is opened first and checked afterwards, so no link can be swapped between the two.
 * Throws errors that do not concern the file itself (EIO, ESTALE, EMFILE ...), so none of them counts as `absent`.
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
    opening = judge(fd, stat, real, real !== null && liesBelow(root, real))
    return opening
  } finally {
    if (opening?.ok !== true) fs.closeSync(fd)
  }
}

/** Like `openBelowSync`, without blocking the event loop: for cold files and slow file systems. */
export async function openBelow(root: string, file: string): Promise<Opening> {
  return fileCall(
    () => openBelowSync(root, file),
    () => openBelowLater(root, file),
  )
}

async function openBelowLater(root: string, file: string): Promise<Opening> {
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
    // Synchronous, since the kernel has the link in memory.
    const real = HAS_PROC ? fs.readlinkSync(`/proc/self/fd/${fd}`) : resolveAgain(target, stat)
    const isInside = real !== null && (await liesBelowLater(root, real))
    opening = judge(fd, stat, real, isInside)
    return opening
  } finally {
    if (opening?.ok !== true) await closeAsync(fd)
  }
}

/** Judges an opened file. This is the only place that does so. */
function judge(fd: number, stat: fs.BigIntStats, realPath: string | null, isInside: boolean): Opening {
  if (realPath === null) return { ok: false, reason: 'absent' }
  if (!isInside) return { ok: false, reason: 'outside' }
  if (!stat.isFile()) return { ok: false, reason: 'not_a_file' }
  return {
    ok: true,
    fd,
    size: Number(stat.size),
    mtimeMs: Number(stat.mtimeNs / NS_PER_MS),
    ino: stat.ino,
    identity: fileIdentity(stat),
    realPath,
  }
}

/** Returns the real path of `target` if it still leads to the opened file, or null if it was swapped meanwhile. */
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

/** The fields of `fs.stat` with `bigint: true` that identify the content of a file. */
export interface FileVersion {
  readonly ino: bigint
  readonly mtimeNs: bigint
  readonly size: bigint
}

/**
 * Returns a short text that changes when a file is replaced or rewritten: inode, modification time (ns) and size in base 36. Safe inside a
 * strong ETag (RFC 9110, 8.8.3). The device number is omitted, since it differs between machines that share a network file system.
 */
export function fileIdentity(file: FileVersion): string {
  return `${file.ino.toString(36)}-${file.mtimeNs.toString(36)}-${file.size.toString(36)}`
}
