/** Returns the directory of an absolute path on the server, or null without a path. */
export function parentOf(path: string | undefined): string | null {
  return path === undefined ? null : path.slice(0, path.lastIndexOf('/')) || '/'
}

/** Returns the parent directory, or null if `dir` is one of the allowed directories. */
export function directoryAbove(dir: string, roots: readonly string[]): string | null {
  return dir === '/' || roots.includes(dir) ? null : parentOf(dir)
}
