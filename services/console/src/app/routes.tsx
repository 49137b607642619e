import type { Role } from '@gateway/contracts/operator.js'
import type { ComponentType, ReactNode } from 'react'
import IconLock from '~icons/lock'
import { useAllowed } from '../api/session.js'
import { Page as BasemapsPage } from '../pages/basemaps/basemaps-page.js'
import { Page as OverviewPage } from '../pages/overview/overview-page.js'
import { Page as TokensPage } from '../pages/tokens/tokens-page.js'
import { browserPlaces } from '../router/places.js'
import { type Route, Router } from '../router/router.js'
import { useTexts } from '../texts/texts.js'
import { Empty } from '../ui/empty.js'
import { ButtonLink } from '../ui/links.js'
import { Page } from '../ui/page.js'
import { PageMissing } from './failures.js'
import { type Load, PAGES } from './pages.js'

/** Pages that most people open first, by path: they are in the first file of the bundle. */
const FIRST_PAGES: Readonly<Record<string, () => ReactNode>> = {
  '': OverviewPage,
  basemaps: BasemapsPage,
  tokens: TokensPage,
}

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

/** Wraps a page that needs a role. Users with a lower role see which one it needs. */
export function forRole(needed: Role, Content: ComponentType): ComponentType {
  return function Allowed() {
    const t = useTexts()
    if (useAllowed(needed)) return <Content />
    return (
      <Page title={t.account.forbidden}>
        <Empty
          title={t.account.needed(t.account.roles[needed])}
          icon={IconLock}
          action={<ButtonLink to="/">{t.nav.overview}</ButtonLink>}
        >
          {t.account.forbiddenAdvice}
        </Empty>
      </Page>
    )
  }
}
