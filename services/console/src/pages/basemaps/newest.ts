import { collator } from '../../ui/table-rows.js'

/** Returns the version whose label is last in natural order, as the service orders them; null if there is only one version. */
export function newestOf(versions: readonly { readonly version: string }[]): string | null {
  if (versions.length < 2) return null
  return versions.map(({ version }) => version).reduce((a, b) => (collator.compare(a, b) >= 0 ? a : b))
}
