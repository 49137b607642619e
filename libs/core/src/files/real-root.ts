import fs from 'node:fs'
import path from 'node:path'

/** Maximum number of remembered roots. A process knows a handful of scan sources; the limit only guards against a caller's mistake. */
const MAX_ROOTS = 1_000

const realRoots = new Map<string, string | null>()

/** True if a resolved path is `realRoot` or below it. Both must be free of symbolic links. */
export function isBelow(realRoot: string | null, realPath: string): boolean {
  if (realRoot === null) return false
  if (!realPath.startsWith(realRoot)) return false
  return realPath.length === realRoot.length || realRoot.endsWith(path.sep) || realPath[realRoot.length] === path.sep
}

/**
 * True if an opened file is below a root. Compares with the root's remembered real path first, which takes no system call, and then with its
 * current real path, since an operator may have pointed the root elsewhere.
 */
export function liesBelow(root: string, realPath: string): boolean {
  return isBelow(knownRealRoot(root), realPath) || isBelow(currentRealRoot(root), realPath)
}

/** Like `liesBelow`, without blocking the event loop: a root on a network file system may not respond. */
export async function liesBelowLater(root: string, realPath: string): Promise<boolean> {
  const known = realRoots.get(root)
  if (known !== undefined && isBelow(known, realPath)) return true
  return isBelow(await currentRealRootLater(root), realPath)
}

function knownRealRoot(root: string): string | null {
  const known = realRoots.get(root)
  return known === undefined ? currentRealRoot(root) : known
}

/** Returns the current real path of a root, or null if the root is absent. */
export function currentRealRoot(root: string): string | null {
  try {
    return remember(root, fs.realpathSync.native(root))
  } catch (error) {
    return remember(root, nullIfAbsent(error))
  }
}

async function currentRealRootLater(root: string): Promise<string | null> {
  try {
    return remember(root, await fs.promises.realpath(root))
  } catch (error) {
    return remember(root, nullIfAbsent(error))
  }
}

function remember(root: string, real: string | null): string | null {
  if (realRoots.size >= MAX_ROOTS) realRoots.clear()
  realRoots.set(root, real)
  return real
}

function nullIfAbsent(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  return null
}
