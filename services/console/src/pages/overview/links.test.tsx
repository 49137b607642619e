// @vitest-environment happy-dom
import { cleanup, screen, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import { FAILED_EXPORTS } from '../../api/exports.js'
import { NOT_SEEN } from '../../api/list.js'
import type { Dashboard } from '../../api/system.js'
import { memoryPlaces } from '../../router/places.js'
import { Router } from '../../router/router.js'
import { show, showRouter, stubService } from '../../testing/render.js'
import { Page as BasemapsPage } from '../basemaps/basemaps-page.js'
import { Page as VersionsPage } from '../basemaps/versions-page.js'
import { Page as PushesPage } from '../pushes/pushes-page.js'
import { Page as SlicingPage } from '../slicing/slicing-page.js'
import { Page as TokensPage } from '../tokens/tokens-page.js'
import { Page as VectorsPage } from '../vectors/vectors-page.js'
import { Attention } from './attention.js'

const LISTS: Readonly<Record<string, () => ReactNode>> = {
  '/basemaps': BasemapsPage,
  '/versions': VersionsPage,
  '/vectors': VectorsPage,
  '/tokens': TokensPage,
  '/pushes': PushesPage,
  '/slicing': SlicingPage,
}

/** Parameters that choose a part of a page. All others promise a filter or an order of its list. */
const PARTS = ['of', 'show']

const failed = (more: object) => (n: number) => ({ id: `${n}`, status: 'failed', message: '503', ...more })
const DASHBOARD = {
  ledger: { versions_unavailable: 2, vectors_unavailable: 3, vectors_unbuilt: 4 },
  pushes: { basemap_records: [], vector_records: [] },
  scan_sources: [],
} as unknown as Dashboard

const FAILURES: Readonly<Record<string, (n: number) => object>> = {
  'push-records': failed({ target_code: 'city-portal', basemap_code: 'world', version: 'v1' }),
  'vector-push-records': failed({ target_code: 'city-portal', vector_code: 'roads' }),
  'purge-records': failed({ target_code: 'cdn', basemap_code: 'world', version: 'v1' }),
  'slice/jobs': failed({ name: 'Job', target_code: 'x' }),
  exports: failed({}),
  tokens: (n) => ({ id: `${n}`, name: `Token ${n}`, expires_at: '2026-12-01T00:00:00.000Z' }),
}

test('each link of the overview to a list leads to a request with every filter that the link names', async () => {
  stubService(({ path }) => {
    const make = FAILURES[new URL(path, 'http://gateway').pathname.replace('/api/v1/admin/', '')]
    return make === undefined ? { items: [], total: 0 } : { items: [1, 2].map(make), total: 9 }
  })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  await screen.findByRole('link', { name: 'city-portal: 2 failed' })
  screen.getByRole('button', { name: /^Show \d+ more$/ }).click()
  await waitFor(() => expect(screen.getAllByRole('link').length).toBeGreaterThan(9))
  const hrefs = screen.getAllByRole('link').map((link) => link.getAttribute('href') ?? '')
  cleanup()
  const promises = [...hrefs, FAILED_EXPORTS, `/pushes?${new URLSearchParams(NOT_SEEN)}`].filter((to) =>
    to.includes('?'),
  )
  expect(promises.length).toBeGreaterThan(8)
  for (const to of new Set(promises)) {
    const { pathname, searchParams } = new URL(to, 'http://console')
    const sent = stubService(() => ({ items: [], total: 0 }))
    showRouter(new Router([{ path: pathname, Component: LISTS[pathname] as () => ReactNode }], memoryPlaces([to])))
    const wanted = [...searchParams].filter(([name]) => !PARTS.includes(name))
    await waitFor(() => {
      const queries = sent.map(({ path }) => new URL(path, 'http://gateway').searchParams)
      const kept = queries.some((query) => wanted.every(([name, value]) => query.get(name) === value))
      expect(kept, `${to} is not kept by ${sent.map(({ path }) => path).join(', ')}`).toBe(true)
    })
    cleanup()
  }
})
