import { browserPlaces } from '../router/places.js'
import { type Route, Router } from '../router/router.js'
import { forRole } from './allowed.js'
import { PageMissing } from './failures.js'
import { FIRST_PAGES } from './first-pages.js'
import { type Load, PAGES } from './pages.js'

/** Loads the code of all pages one after the other, so that they open while the service is away. Excludes maps and charts. */
export async function preloadPages(): Promise<void> {
  for (const [, load] of PAGES) await load?.().catch(() => {})
  await import('../pages/basemaps/tabs.js').catch(() => {})
}

export function createRouter(): Router {
  const pages = PAGES.map(([path, load, needs = 'viewer']): Route => {
    const first = FIRST_PAGES[path]
    if (first !== undefined) return { path, Component: forRole(needs, first) }
    return { path, load: async () => forRole(needs, await (load as Load)()) }
  })
  return new Router([...pages, { path: '*', Component: PageMissing }], browserPlaces('/admin'))
}
