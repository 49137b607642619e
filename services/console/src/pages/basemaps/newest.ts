import { collator } from '../../ui/table-rows.js'

/** The version whose label comes last in natural order, as the service orders them; null: of one alone nothing is newest. */
export function newestOf(versions: readonly { readonly version: string }[]): string | null {
  if (versions.length < 2) return null
  return versions.map(({ version }) => version).reduce((a, b) => (collator.compare(a, b) >= 0 ? a : b))
}
