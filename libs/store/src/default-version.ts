/** "v10" after "v9", "2026-11" after "2026-2". */
const NATURAL = new Intl.Collator('en', { numeric: true })

export function compareVersions(a: string, b: string): number {
  return NATURAL.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}

/**
 * Returns the version that `current` and the URL without a version mean. If an operator set one, it stays until it is changed, even if its files
 * disappear. Otherwise, or while that version is withdrawn, it is the highest version in natural order that is available and not withdrawn.
 * null: no such version.
 */
export function effectiveDefault(
  setByOperator: string | null,
  versions: readonly { readonly version: string; readonly available: boolean; readonly withdrawn: boolean }[],
): string | null {
  const set = versions.find(({ version }) => version === setByOperator)
  if (setByOperator !== null && set?.withdrawn !== true) return setByOperator
  let highest: string | null = null
  for (const { version, available, withdrawn } of versions) {
    if (available && !withdrawn && (highest === null || compareVersions(version, highest) > 0)) highest = version
  }
  return highest
}
