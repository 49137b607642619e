/** The page of the documentation for each part of the console, by the first segment of its path; below `docs`, as the site has it. */
export const HELP: Readonly<Record<string, string>> = {
  basemaps: 'concepts.html',
  vectors: 'reference/sources.html',
  sources: 'reference/sources.html',
  slicing: 'reference/slicing.html',
  tokens: 'reference/administration.html#tokens',
  pushes: 'reference/deliveries.html',
  'signing-keys': 'caches.html#signed-addresses',
  audit: 'operators.html',
  settings: 'reference/settings.html',
}

/** Where help for a path of the console (without its base) is; for others the first page of the documentation in the reader's language. */
export function helpFor(pathname: string, home: string): string {
  const page = HELP[pathname.split('/')[1] ?? '']
  return page === undefined ? home : `/docs/${page}`
}
