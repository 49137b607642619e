import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it; one that is there already is fine. Throws where it cannot. Node's own recursive mkdir never comes
 * back from a file system that says ENOENT to every mkdir (/proc, some automounts), and a start must end with words.
 */
export function makeDirectory(path: string): void {
  if (tryMake(path)) return
  const above = dirname(path)
  if (above !== path) makeDirectory(above)
  mkdirSync(path)
}

/** false: what is above it is not there, or is said not to be. */
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
