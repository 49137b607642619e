// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { RecordsTable } from './records-table.js'

const AT = '2026-03-01T08:00:00.000Z'
const EXPORT = '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10'
const part = (bounds: number[] | null) => ({ bounds, zoom_min: 0, zoom_max: 5 })

test.each([
  ['the version', null, null, 'The version itself'],
  ['an export', EXPORT, part(null), 'An export as one archive, zooms 0–5'],
  ['a part', EXPORT, part([5, 45, 15, 55]), 'An export as one archive, zooms 0–5 · 5.00, 45.00, 15.00, 55.00'],
  ['an export that is gone', EXPORT, null, 'A removed export'],
])('the list of pushes says that the pushed item is %s', async (_, id, exported, words) => {
  const record = {
    id: '4f5c2b8e-97a1-4d0e-8f0b-6d1c6f3c7d11',
    target_code: 'portal',
    status: 'succeeded',
    attempts: 1,
    message: '',
    next_attempt_at: null,
    created_at: AT,
    updated_at: AT,
    acknowledged_at: null,
    basemap_code: 'world',
    version: '2026-11',
    export_id: id,
    export: exported,
  }
  stubService(({ path }) => (path.includes('/push-records') ? { items: [record], total: 1 } : { items: [], total: 0 }))
  show(<RecordsTable />)
  const cell = (await screen.findByText('world · 2026-11')).closest('td')
  expect(cell?.textContent).toBe(`world · 2026-11${words}`)
})
