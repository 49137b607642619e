/** Returns the directory of an absolute path on the server; null: there is no path, or it is relative or in object storage. */
export function parentOf(path: string | undefined): string | null {
  return !path?.startsWith('/') ? null : path.slice(0, path.lastIndexOf('/')) || '/'
}

/** Returns the parent directory, or null if `dir` is one of the allowed directories. */
export function directoryAbove(dir: string, roots: readonly string[]): string | null {
  return dir === '/' || roots.includes(dir) ? null : parentOf(dir)
}
