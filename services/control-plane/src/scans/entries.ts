import type { Dirent, Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isBelow } from '@gateway/files/real-root.js'

export interface Entry {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory'
}

/** Names that are never looked at: hidden ones, and what tools (slicing among them) use while they write. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || name === '_tmp' || name === 'lost+found'
}

/**
 * The files and directories of a directory, in a fixed order. A symbolic link counts as what it leads to, unless that lies outside of
 * the source or nowhere. Devices and pipes are left out. Throws where the directory cannot be listed: an error is no empty directory.
 * @param realRoot the source's own real path
 */
export async function listEntries(realRoot: string, directory: string): Promise<Entry[]> {
  const found: Entry[] = []
  for (const dirent of await readdir(directory, { withFileTypes: true })) {
    if (isHidden(dirent.name)) continue
    const path = join(directory, dirent.name)
    const kind = await kindOf(realRoot, path, dirent)
    if (kind !== null) found.push({ name: dirent.name, path, kind })
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

async function kindOf(realRoot: string, path: string, dirent: Dirent): Promise<Entry['kind'] | null> {
  if (!dirent.isSymbolicLink()) return plainKind(dirent)
  try {
    if (!isBelow(realRoot, await realpath(path))) return null
    return plainKind(await stat(path))
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === 'ELOOP') return null
    throw error
  }
}

function plainKind(entry: Dirent | Stats): Entry['kind'] | null {
  if (entry.isDirectory()) return 'directory'
  return entry.isFile() ? 'file' : null
}

/** Something that was listed and is not there any more. */
export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
