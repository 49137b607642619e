import { createBrowserRouter, type RouteObject } from 'react-router'
import { forRole } from './allowed.js'
import { PageFailed, PageMissing } from './failures.js'
import { PAGES } from './pages.js'
import { Shell } from './shell.js'

/** Loads the code of all pages one after the other, so that they open while the service is away. Excludes maps and charts. */
export async function preloadPages(): Promise<void> {
  for (const [, load] of PAGES) await load().catch(() => {})
}

export function createRoutes() {
  const pages = PAGES.map(([path, load, needs = 'viewer']): RouteObject => {
    const lazy = async () => ({ Component: forRole(needs, (await load()).Page) })
    return path === '' ? { index: true, lazy } : { path, lazy }
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
