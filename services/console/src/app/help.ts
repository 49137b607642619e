/** The page of the documentation for each part of the console, by the first segment of its path; below `docs`, as the site has it. */
export const HELP: Readonly<Record<string, string>> = {
  basemaps: 'concepts.html',
  vectors: 'reference/sources.html',
  styles: 'reference/styles.html',
  sources: 'reference/sources.html',
  slicing: 'reference/slicing.html',
  tokens: 'reference/administration.html#tokens',
  pushes: 'reference/deliveries.html',
  'signing-keys': 'caches.html#signed-addresses',
  audit: 'operators.html',
  settings: 'reference/settings.html',
}

/** The pages of these that exist in Chinese too. */
export const IN_CHINESE: readonly string[] = ['reference/slicing.html', 'reference/sources.html']

/**
 * The address of the help for a path of the console (without its base), in the reader's language if the page exists in it. Other paths lead to
 * `home`, the first page of the documentation in that language.
 */
export function helpFor(pathname: string, home: string): string {
  const page = HELP[pathname.split('/')[1] ?? '']
  if (page === undefined) return home
  return home === '/docs/zh/' && IN_CHINESE.includes(page) ? `${home}${page}` : `/docs/${page}`
}
