/** A file whose path has no ASCII letter or digit at all. */
const NAMELESS = 'vector'
const MAX_CODE_LENGTH = 180

/** A relative path without its extension, reduced to ASCII letters, digits, `-` and `_`; accents are dropped, separators become `-`. */
export function reducedCode(relativePath: string): string {
  const reduced = relativePath
    .replace(/\.[^./]*$/, '')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[\s/.,;+&()[\]]+/g, '-')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .replace(/-{2,}/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CODE_LENGTH)
  return reduced === '' ? NAMELESS : reduced
}

/**
 * A code for each relative path of a source. A path that has one keeps it, whatever else comes or goes; a new one whose code is taken, in
 * this source or another, gets the lowest free numeric suffix. The order of `relativePaths` does not matter.
 * @param known codes of this source's paths, those of vectors that are missing now included
 * @param taken codes of all sources
 */
export function assignCodes(
  relativePaths: readonly string[],
  known: ReadonlyMap<string, string>,
  taken: ReadonlySet<string>,
): Map<string, string> {
  const used = new Set(taken)
  const codes = new Map<string, string>()
  for (const path of [...relativePaths].sort()) {
    const code = known.get(path) ?? firstFree(reducedCode(path), used)
    used.add(code)
    codes.set(path, code)
  }
  return codes
}

function firstFree(base: string, used: ReadonlySet<string>): string {
  if (!used.has(base)) return base
  for (let n = 2; ; n++) if (!used.has(`${base}-${n}`)) return `${base}-${n}`
}
