import fs from 'node:fs'
import path from 'node:path'

/** Limit: roots remembered. A process knows a handful of scan sources; the limit only guards against a caller's mistake. */
const MAX_ROOTS = 1_000

const realRoots = new Map<string, string | null>()

/** Whether a resolved path is `realRoot` itself or lies below it. Both must be free of symbolic links. */
export function isBelow(realRoot: string | null, realPath: string): boolean {
  if (realRoot === null) return false
  if (!realPath.startsWith(realRoot)) return false
  return realPath.length === realRoot.length || realRoot.endsWith(path.sep) || realPath[realRoot.length] === path.sep
}

/** The real path of a root as it was when first asked for: no system call after that. null: the root was absent. */
export function knownRealRoot(root: string): string | null {
  const known = realRoots.get(root)
  return known === undefined ? currentRealRoot(root) : known
}

/** The real path of a root now, for when the known one does not fit: an operator may have pointed the root elsewhere. */
export function currentRealRoot(root: string): string | null {
  let real: string | null
  try {
    real = fs.realpathSync.native(root)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    real = null
  }
  if (realRoots.size >= MAX_ROOTS) realRoots.clear()
  realRoots.set(root, real)
  return real
}
