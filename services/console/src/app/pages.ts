import type { Role } from '@gateway/contracts/operator.js'
import type { ReactNode } from 'react'

type Load = () => Promise<{ readonly Page: () => ReactNode }>

/**
 * The path of every page below `/admin/`, its code, which is a separate file, and the required role, if not that of a viewer. People
 * keep links to these paths, so they must not change.
 */
export const PAGES: readonly (readonly [path: string, load: Load, needs?: Role])[] = [
  ['', () => import('../pages/overview/overview-page.js')],
  ['basemaps', () => import('../pages/basemaps/basemaps-page.js')],
  ['versions', () => import('../pages/basemaps/versions-page.js')],
  ['basemaps/:code', () => import('../pages/basemaps/basemap-page.js')],
  ['basemaps/:code/compare', () => import('../pages/basemaps/compare-page.js')],
  ['basemaps/:code/versions/:version', () => import('../pages/basemaps/version-page.js')],
  ['basemaps/:code/versions/:version/export', () => import('../pages/pushes/new-export-page.js'), 'operator'],
  ['edges', () => import('../pages/edges/edges-page.js')],
  ['edges/:id', () => import('../pages/edges/edge-page.js')],
  ['vectors', () => import('../pages/vectors/vectors-page.js')],
  ['vectors/:code', () => import('../pages/vectors/vector-page.js')],
  ['styles', () => import('../pages/styles/styles-page.js')],
  ['styles/compare', () => import('../pages/styles/compare-page.js')],
  ['styles/:code', () => import('../pages/styles/style-page.js')],
  ['tokens', () => import('../pages/tokens/tokens-page.js')],
  ['tokens/new', () => import('../pages/tokens/issue-page.js'), 'admin'],
  ['tokens/partner', () => import('../pages/tokens/partner-page.js'), 'admin'],
  ['tokens/:id', () => import('../pages/tokens/token-page.js')],
  ['signing-keys', () => import('../pages/signing/signing-keys-page.js')],
  ['sources', () => import('../pages/sources/sources-page.js')],
  ['sources/new', () => import('../pages/sources/new-source-page.js'), 'admin'],
  ['sources/:code', () => import('../pages/sources/source-page.js')],
  ['slicing', () => import('../pages/slicing/slicing-page.js')],
  ['slicing/new', () => import('../pages/slicing/submit-page.js'), 'operator'],
  ['slicing/jobs/:id', () => import('../pages/slicing/job-page.js')],
  ['pushes', () => import('../pages/pushes/pushes-page.js')],
  ['pushes/new', () => import('../pages/pushes/new-push-page.js'), 'operator'],
  ['pushes/targets/new', () => import('../pages/pushes/target-page.js'), 'admin'],
  ['pushes/targets/:code', () => import('../pages/pushes/target-page.js')],
  ['pushes/:of/:id', () => import('../pages/pushes/push-page.js')],
  ['notifications', () => import('../pages/notifications/notifications-page.js')],
  ['audit', () => import('../pages/audit/audit-page.js')],
  ['audit/:id', () => import('../pages/audit/entry-page.js')],
  ['settings', () => import('../pages/settings/settings-page.js')],
  ['signed-in', () => import('../pages/account/signed-in-page.js')],
]

/** Begins to load the code of a page before the router runs. If that fails, the router loads it again. */
export function loadPageAt(pathname: string): void {
  const wanted = segments(pathname.replace(/^\/admin/, ''))
  const [, load] = PAGES.find(([path]) => matches(segments(path), wanted)) ?? []
  void load?.().catch(() => {})
}

function matches(path: readonly string[], wanted: readonly string[]): boolean {
  return path.length === wanted.length && path.every((part, i) => part.startsWith(':') || part === wanted[i])
}

function segments(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}
