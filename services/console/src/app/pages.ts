import type { Role } from '@gateway/contracts/operator.js'
import type { ReactNode } from 'react'
import { matchPath } from '../router/match.js'

export type Load = () => Promise<() => ReactNode>

// One file for each area, because the pages of an area are often opened one after the other.
const mapFirst = () => import('../pages/map-pages.js')
const maps = () => import('../pages/maps.js')
const work = () => import('../pages/work.js')
const styleEditor = () => import('../pages/style-editor/pages.js')

/**
 * The address of every page below `/admin/`, its code, unless that is in the first file (`FIRST_PAGES`), and the role that it needs, if not that of a viewer. They are
 * links that people keep: they do not change.
 */
export const PAGES: readonly (readonly [path: string, load: Load | null, needs?: Role])[] = [
  ['', null],
  ['basemaps', null],
  ['versions', async () => (await maps()).VersionsPage],
  ['basemaps/:code', async () => (await mapFirst()).BasemapPage],
  ['basemaps/:code/compare', async () => (await maps()).BasemapsComparePage],
  ['basemaps/:code/versions/:version', async () => (await mapFirst()).VersionPage],
  ['basemaps/:code/versions/:version/export', async () => (await work()).NewExportPage, 'operator'],
  ['basemaps/:code/versions/:version/seed', async () => (await work()).NewSeedPage, 'operator'],
  ['seeds', async () => (await work()).SeedsPage],
  ['edges', async () => (await work()).EdgesPage],
  ['edges/:id', async () => (await work()).EdgePage],
  ['vectors', async () => (await maps()).VectorsPage],
  ['vectors/:code', async () => (await maps()).VectorPage],
  ['styles', async () => (await maps()).StylesPage],
  ['styles/compare', async () => (await maps()).StylesComparePage],
  ['styles/new', async () => (await styleEditor()).NewStylePage, 'operator'],
  ['styles/:code/edit', async () => (await styleEditor()).EditStylePage, 'operator'],
  ['styles/:code', async () => (await maps()).StylePage],
  ['preview', async () => (await maps()).PreviewPage],
  ['tokens', null],
  ['tokens/new', async () => (await work()).IssuePage, 'admin'],
  ['tokens/partner', async () => (await work()).PartnerPage, 'admin'],
  ['tokens/:id', async () => (await work()).TokenPage],
  ['signing-keys', async () => (await work()).SigningKeysPage],
  ['sources', async () => (await work()).SourcesPage],
  ['sources/new', async () => (await work()).NewSourcePage, 'admin'],
  ['sources/:code', async () => (await work()).SourcePage],
  ['upload', async () => (await work()).UploadPage, 'operator'],
  ['slicing', async () => (await work()).SlicingPage],
  ['slicing/new', async () => (await work()).SubmitPage, 'operator'],
  ['slicing/jobs/:id', async () => (await work()).JobPage],
  ['pushes', async () => (await work()).PushesPage],
  ['pushes/new', async () => (await work()).NewPushPage, 'operator'],
  ['pushes/targets/new', async () => (await work()).TargetPage, 'admin'],
  ['pushes/targets/:code', async () => (await work()).TargetPage],
  ['pushes/:of/:id', async () => (await work()).PushPage],
  ['notifications', async () => (await work()).NotificationsPage],
  ['audit', async () => (await work()).AuditPage],
  ['audit/:id', async () => (await work()).EntryPage],
  ['settings', async () => (await work()).SettingsPage],
  ['signed-in', async () => (await work()).SignedInPage],
]

/** Begins to load the code of a page before the router runs. If that fails, the router loads it again. */
export function loadPageAt(pathname: string): void {
  const [, load] = PAGES.find(([path]) => matchPath(path, pathname.replace(/^\/admin/, '')) !== null) ?? []
  void load?.().catch(() => {})
}
