import type { ReactNode } from 'react'
import { Page as BasemapsPage } from '../pages/basemaps/basemaps-page.js'
import { Page as OverviewPage } from '../pages/overview/overview-page.js'
import { Page as TokensPage } from '../pages/tokens/tokens-page.js'

/** Pages that most people open first, by path: they are in the first file of the bundle. */
export const FIRST_PAGES: Readonly<Record<string, () => ReactNode>> = {
  '': OverviewPage,
  basemaps: BasemapsPage,
  tokens: TokensPage,
}
