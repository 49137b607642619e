/** The documentation page for each part of the console, by the first segment of its path, relative to `docs`. */
export const HELP: Readonly<Record<string, string>> = {
  basemaps: 'concepts.html',
  vectors: 'reference/sources.html',
  styles: 'reference/styles.html',
  sources: 'reference/sources.html',
  slicing: 'reference/slicing.html',
  tokens: 'reference/administration.html#tokens',
  pushes: 'reference/deliveries.html',
  'signing-keys': 'caches.html#signed-urls',
  audit: 'operators.html',
  settings: 'reference/settings.html',
}

/** The pages among these that exist in Chinese. */
export const IN_CHINESE: readonly string[] = ['reference/slicing.html', 'reference/sources.html']

/**
 * Returns the URL of the help for a path of the console (without its base), in the user's language if the page exists in it. Other paths lead to
 * `home`, the first page of the documentation in that language.
 */
export function helpFor(pathname: string, home: string): string {
  const page = HELP[pathname.split('/')[1] ?? '']
  if (page === undefined) return home
  return home === '/docs/zh/' && IN_CHINESE.includes(page) ? `${home}${page}` : `/docs/${page}`
}
