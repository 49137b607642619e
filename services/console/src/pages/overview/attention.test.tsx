// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Dashboard } from '../../api/system.js'
import { show, stubService } from '../../testing/render.js'
import { Attention } from './attention.js'

const NOTHING = { versions_unavailable: 0, vectors_unavailable: 0, vectors_unbuilt: 0 }
const DASHBOARD = {
  ledger: { basemaps: 1, versions: 1, vectors: 0, ...NOTHING },
  pushes: { basemap_records: [], vector_records: [] },
  scan_sources: [],
} as unknown as Dashboard

const job = (n: number) => ({ id: `job-${n}`, name: `Job ${n}`, target_code: 'x', message: 'no such image' })
const push = { id: 'push-1', target_code: 'portal', vector_code: 'roads', status: 'failed', message: '503' }
const token = { id: 'token-1', name: 'Road works', expires_at: '2026-12-01T00:00:00.000Z' }

function serve(lists: Readonly<Record<string, { items: object[]; total: number }>>) {
  return stubService(({ path }) => {
    const url = new URL(path, 'http://gateway')
    return lists[url.pathname.replace('/api/v1/admin/', '')] ?? { items: [], total: 0 }
  })
}

test('unseen failures are listed, each with a link, and further ones as one link to exactly those', async () => {
  const sent = serve({
    'slice/jobs': { items: [1, 2, 3, 4, 5].map(job), total: 7 },
    'vector-push-records': { items: [push], total: 1 },
  })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  const href = async (name: string) => (await screen.findByRole('link', { name })).getAttribute('href')
  expect(await href('The slicing job Job 5 failed')).toBe('/slicing/jobs/job-5')
  expect(await href('Delivery of roads to portal is failing')).toBe('/pushes/vector/push-1')
  expect(await href('2 further failures')).toBe('/slicing?cancelled=false&status=failed&acknowledged=false')
  const asked = sent.map(({ path }) => path).filter((path) => path.includes('slice/jobs'))
  expect(asked).toEqual(['/api/v1/admin/slice/jobs?limit=5&status=failed&acknowledged=false&cancelled=false'])
})

test('failed purges and failed exports are listed, with links to exactly those', async () => {
  serve({
    'purge-records': {
      items: [
        { id: 'purge-1', target_code: 'cdn', basemap_code: 'world', version: 'v2', status: 'failed', message: '503' },
      ],
      total: 3,
    },
    exports: { items: [{ id: 'export-1', message: 'the disk is full' }], total: 2 },
  })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  const href = async (name: string) => (await screen.findByRole('link', { name })).getAttribute('href')
  expect(await href('Cache purge for world · v2 failed at cdn')).toBe('/pushes/purge/purge-1')
  expect(await href('2 further failures')).toBe('/pushes?of=purge&status=failed&acknowledged=false')
  expect(await href('2 exports failed')).toBe('/pushes?show=exports&status=failed')
  expect(screen.getByText('the disk is full')).toBeDefined()
})

test('vectors whose tiles could not be built are counted, with a link to exactly those', async () => {
  serve({})
  const ledger = { ...DASHBOARD.ledger, vectors_unbuilt: 3 }
  show(<Attention dashboard={{ ...DASHBOARD, ledger }} edges={undefined} />)
  const link = await screen.findByRole('link', { name: 'The tiles of 3 vectors could not be built' })
  expect(link.getAttribute('href')).toBe(
    '/vectors?tiles_status=failed&available=true&withdrawn=false&source_enabled=true',
  )
})

test('tokens that are about to expire are counted, with a link to exactly those', async () => {
  serve({ tokens: { items: [token], total: 12 } })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  const link = await screen.findByRole('link', { name: '12 tokens expire within 14 days' })
  expect(link.getAttribute('href')).toBe('/tokens?expires_within=14d&sort=expires_at')
  expect(screen.getByText(/Road works/)).toBeDefined()
})

test('pushes that failed at one target for one reason share a line, and one call retries them', async () => {
  const sent = serve({
    'push-records': {
      items: ['503', '503', '401'].map((message, n) => ({
        ...{ id: `push-${n}`, basemap_code: 'world', version: `v${n}`, target_code: 'dispatch', status: 'failed' },
        message,
      })),
      total: 3,
    },
    'push-records/bulk': { items: [], total: 0, ...{ matched: 2, done: 2, failed: [] } },
  })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  const group = await screen.findByRole('link', { name: 'dispatch: 2 failed' })
  expect(group.getAttribute('href')).toBe('/pushes?status=failed&acknowledged=false&target_code=dispatch')
  await screen.findByRole('link', { name: 'Delivery of world · v2 to dispatch is failing' })
  screen.getByRole('button', { name: 'Retry all' }).click()
  await screen.findByText('Retry started: 2 pushes')
  const { method, body } = sent.find(({ path }) => path.endsWith('/bulk')) ?? {}
  expect([method, body]).toEqual(['POST', { action: 'retry', ids: ['push-0', 'push-1'] }])
})

test('at most seven lines are shown until the user asks for the rest', async () => {
  const items = Array.from({ length: 12 }, (_, n) => ({ ...push, id: `push-${n}`, message: `cause ${n}` }))
  serve({ 'vector-push-records': { items, total: 12 } })
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  const more = await screen.findByRole('button', { name: 'Show 6 more' })
  expect(screen.getAllByRole('listitem')).toHaveLength(7)
  more.click()
  await screen.findByText('cause 11')
  expect(screen.getAllByRole('listitem')).toHaveLength(12)
})

test('nothing needs attention if nothing failed and nothing expires soon', async () => {
  serve({})
  show(<Attention dashboard={DASHBOARD} edges={undefined} />)
  await screen.findByText('Nothing needs attention.')
})

test('settings that are probably a mistake are listed, with a link to the settings', async () => {
  serve({})
  const warnings = [
    { code: 'slice_sources_open', message: 'SLICE_SOURCE_ROOTS is not set' },
    { code: 'of_a_later_version', message: 'Its words are those of the service' },
  ]
  show(<Attention dashboard={{ ...DASHBOARD, warnings }} edges={undefined} />)
  const link = await screen.findByRole('link', { name: /SLICE_SOURCE_ROOTS/ })
  expect(link.getAttribute('href')).toBe('/settings')
  expect(screen.getByText('Its words are those of the service')).toBeDefined()
})
