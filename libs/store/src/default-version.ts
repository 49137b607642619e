/** "v10" after "v9", "2026-11" after "2026-2". */
const NATURAL = new Intl.Collator('en', { numeric: true })

export function compareVersions(a: string, b: string): number {
  return NATURAL.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}

/**
 * The version that `current` and the route without a version mean: the one an operator set, which stays until changed, whatever
 * becomes of it on the disk; otherwise, and while that one is withdrawn, the highest version in natural order that is available and not
 * withdrawn. null: the basemap has none.
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
