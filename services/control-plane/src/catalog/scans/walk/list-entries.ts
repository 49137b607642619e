import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { coded, type MessageCode } from '@gateway/contracts/messages.js'
import { isBelow } from '@gateway/core/files/real-root.js'
import { quoted } from './found.js'
import { type WalkedSource, warnIn } from './walked-source.js'

export interface Entry {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly isLink: boolean
}

/** Folders that operating systems and storage appliances create at the top of a disk, often unreadable for other users. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  'lost+found',
  'System Volume Information',
  '$RECYCLE.BIN',
  '@eaDir',
  '#recycle',
  '#snapshot',
])

/** True for names that are always skipped: hidden ones, and temporary ones of tools (including slicing). */
export function isHidden(name: string): boolean {
  return name.startsWith('.') || name === '_tmp' || name.startsWith('_tmp.') || SYSTEM_FOLDERS.has(name)
}

/**
 * Lists the files and directories of a directory, in a fixed order. Empty if the directory has gone meanwhile. A symbolic link counts as its target,
 * unless the target is outside of the source, absent, or a folder that contains the link itself. Devices and pipes are skipped.
 * Throws if the directory cannot be listed, since an error does not mean an empty directory.
 */
export function listEntries(source: WalkedSource, directory: string): Entry[] {
  source.progress()
  const found: Entry[] = []
  for (const dirent of listed(directory)) {
    const entry = entryOf(source, directory, dirent.name, dirent)
    if (entry !== null) found.push(entry)
  }
  return found.sort(byName)
}

/** An entry of a directory; null: it is left out. */
export function entryOf(source: WalkedSource, directory: string, name: string, stat: Dirent | Stats): Entry | null {
  if (isHidden(name)) return null
  const path = join(directory, name)
  if (name.includes('\uFFFD')) {
    // It can be neither asked for in an address nor opened by what came back.
    warnIn(source, coded('scan_name_not_utf8', { file: quoted(relative(source.root, path)) }))
    return null
  }
  const isLink = stat.isSymbolicLink()
  const kind = isLink ? kindBehind(source, directory, path) : plainKind(stat)
  return kind === null ? null : { name, path, kind, isLink }
}

export function byName(a: Entry, b: Entry): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

function listed(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

function kindBehind(source: WalkedSource, directory: string, path: string): Entry['kind'] | null {
  const leftOut = (code: MessageCode) => {
    warnIn(source, coded(code, { file: quoted(relative(source.root, path)) }))
    return null
  }
  try {
    const target = realpathSync.native(path)
    if (!isBelow(source.realRoot, target)) return leftOut('scan_link_outside')
    const kind = plainKind(statSync(target))
    if (kind === 'directory' && isBelow(target, realpathSync.native(directory))) return leftOut('scan_link_loop')
    return kind
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === 'ELOOP') return leftOut('scan_link_nowhere')
    throw error
  }
}

function plainKind(entry: Dirent | Stats): Entry['kind'] | null {
  if (entry.isDirectory()) return 'directory'
  return entry.isFile() ? 'file' : null
}

/** True if a listed entry no longer exists. */
export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
