import { createBrowserRouter, type RouteObject } from 'react-router'
import { forRole } from './allowed.js'
import { PageFailed, PageMissing } from './failures.js'
import { FIRST_PAGES } from './first-pages.js'
import { type Load, PAGES } from './pages.js'
import { Shell } from './shell.js'

/** Loads the code of all pages one after the other, so that they open while the service is away. Excludes maps and charts. */
export async function preloadPages(): Promise<void> {
  for (const [, load] of PAGES) await load?.().catch(() => {})
}

export function createRoutes() {
  const pages = PAGES.map(([path, load, needs = 'viewer']): RouteObject => {
    const at = path === '' ? { index: true as const } : { path }
    const first = FIRST_PAGES[path]
    if (first !== undefined) return { ...at, Component: forRole(needs, first) }
    return { ...at, lazy: async () => ({ Component: forRole(needs, await (load as Load)()) }) }
  })
  return createBrowserRouter(
    [
      {
        Component: Shell,
        hydrateFallbackElement: <></>,
        ErrorBoundary: PageFailed,
        children: [{ ErrorBoundary: PageFailed, children: [...pages, { path: '*', Component: PageMissing }] }],
      },
    ],
    { basename: '/admin' },
  )
}
