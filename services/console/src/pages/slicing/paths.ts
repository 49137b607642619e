/** The directory of an absolute path of the server; null: there is no path. */
export function parentOf(path: string | undefined): string | null {
  return path === undefined ? null : path.slice(0, path.lastIndexOf('/')) || '/'
}

/** The directory above, or null above the allowed ones. */
export function directoryAbove(dir: string, roots: readonly string[]): string | null {
  return dir === '/' || roots.includes(dir) ? null : parentOf(dir)
}
