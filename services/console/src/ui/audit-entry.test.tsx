// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { AuditDetail } from './audit-entry.js'

test('times are shown as times, lists as lists, and an absent value as a dash', () => {
  const before = { disabled_at: null, name: '2026-11', basemap_codes: ['a', 'b'] }
  const after = { basemap_codes: ['*'], disabled_at: '2026-11-26T01:20:17.296992+00:00', name: 'a' }
  show(<AuditDetail detail={{ before, after }} />)
  const line = screen.getByText(/Disabled/)
  expect(line.querySelector('del')?.textContent).toBe('–')
  expect(line.querySelector('ins')?.textContent).toMatch(/^26 Nov 2026|^Nov 26, 2026/)
  expect(screen.getByText(/^Basemaps/).querySelector('del')?.textContent).toBe('a, b')
  expect(screen.getByText(/^Name/).querySelector('del')?.textContent).toBe('2026-11')
})
