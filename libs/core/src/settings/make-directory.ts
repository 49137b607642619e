import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a directory and its parents. An existing directory is not an error. Throws if it cannot be created. Node's own recursive mkdir never
 * returns on a file system that returns ENOENT for every mkdir (/proc, some automounts), and a failed start must end with a message.
 */
export function makeDirectory(path: string): void {
  if (tryMake(path)) return
  const above = dirname(path)
  if (above !== path) makeDirectory(above)
  mkdirSync(path)
}

/**
 * Creates directories that only the user of this process may enter, and closes existing ones to others, so that the modes of the files in them do not
 * matter. A directory that cannot be created is left to the first use, which reports it.
 */
export function makePrivateDirectories(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      makeDirectory(path)
      chmodSync(path, 0o700)
    } catch {}
  }
}

/** Returns false if the parent does not exist, or is reported as absent. */
function tryMake(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
    throw error
  }
}
