import type { Role } from '@gateway/contracts/operator.js'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { forRole } from './allowed.js'
import { PageFailed, PageMissing } from './failures.js'
import { Shell } from './shell.js'

type Module = Promise<{ readonly Page: () => React.ReactNode }>

const pages: (() => Module)[] = []

/** A page in a file of its own, loaded when it is first opened, or when there is time. */
function page(path: string | undefined, load: () => Module, needs: Role = 'viewer'): RouteObject {
  pages.push(load)
  const lazy = async () => ({ Component: forRole(needs, (await load()).Page) })
  return path === undefined ? { index: true, lazy } : { path, lazy }
}

/** Loads the code of every page, one after the other, so that all of them open also while the service is away. Not maps and charts. */
export async function preloadPages(): Promise<void> {
  for (const load of pages) await load().catch(() => {})
}

/** The address of every page. They are links that people keep: they do not change. */
export function createRoutes() {
  return createBrowserRouter(
    [
      {
        Component: Shell,
        hydrateFallbackElement: <></>,
        ErrorBoundary: PageFailed,
        children: [
          {
            ErrorBoundary: PageFailed,
            children: [
              page(undefined, () => import('../pages/overview/overview-page.js')),
              page('basemaps', () => import('../pages/basemaps/basemaps-page.js')),
              page('versions', () => import('../pages/basemaps/versions-page.js')),
              page('basemaps/:code', () => import('../pages/basemaps/basemap-page.js')),
              page('basemaps/:code/compare', () => import('../pages/basemaps/compare-page.js')),
              page('basemaps/:code/versions/:version', () => import('../pages/basemaps/version-page.js')),
              page(
                'basemaps/:code/versions/:version/export',
                () => import('../pages/pushes/new-export-page.js'),
                'operator',
              ),
              page('vectors', () => import('../pages/vectors/vectors-page.js')),
              page('vectors/:code', () => import('../pages/vectors/vector-page.js')),
              page('tokens', () => import('../pages/tokens/tokens-page.js')),
              page('tokens/new', () => import('../pages/tokens/issue-page.js'), 'admin'),
              page('tokens/:id', () => import('../pages/tokens/token-page.js')),
              page('signing-keys', () => import('../pages/signing/signing-keys-page.js')),
              page('sources', () => import('../pages/sources/sources-page.js')),
              page('sources/new', () => import('../pages/sources/new-source-page.js'), 'admin'),
              page('sources/:code', () => import('../pages/sources/source-page.js')),
              page('slicing', () => import('../pages/slicing/slicing-page.js')),
              page('slicing/new', () => import('../pages/slicing/submit-page.js'), 'operator'),
              page('slicing/jobs/:id', () => import('../pages/slicing/job-page.js')),
              page('pushes', () => import('../pages/pushes/pushes-page.js')),
              page('pushes/new', () => import('../pages/pushes/new-push-page.js'), 'operator'),
              page('pushes/targets/new', () => import('../pages/pushes/target-page.js'), 'admin'),
              page('pushes/targets/:code', () => import('../pages/pushes/target-page.js')),
              page('pushes/:of/:id', () => import('../pages/pushes/push-page.js')),
              page('audit', () => import('../pages/audit/audit-page.js')),
              page('audit/:id', () => import('../pages/audit/entry-page.js')),
              page('settings', () => import('../pages/settings/settings-page.js')),
              page('signed-in', () => import('../pages/account/signed-in-page.js')),
              { path: '*', Component: PageMissing },
            ],
          },
        ],
      },
    ],
    { basename: '/admin' },
  )
}
