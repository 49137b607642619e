// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { Page } from './audit-page.js'

const entry = (id: number, action: string, subject: string, detail: object) => ({
  ...{ id, action, subject, detail },
  ...{ at: '2026-03-01T08:00:00.000Z', actor: 'ann@example.com', address: '10.0.0.7' },
})

const ENTRIES = [
  entry(3, 'basemap.default-version', 'world', {
    name: 'The world',
    before: { default_version: 'v1' },
    after: { default_version: 'v2' },
  }),
  entry(2, 'token.delete', 'id-of-token', { before: { name: 'Road works' } }),
  entry(1, 'something.new', 'x', {}),
]

function serve() {
  const sent = stubService(() => ({ items: ENTRIES, total: ENTRIES.length }))
  return () => sent.map(({ path }) => new URL(path, 'http://gateway').search)
}

test('an entry shows the change as text, with before and after, and links to its subject if that still exists', async () => {
  serve()
  show(<Page />)
  const row = (await screen.findByText('Default version changed', { selector: 'bdi' })).closest('tr')
  expect(row?.textContent).toContain('Default version: v1 v2')
  expect([row?.querySelector('del')?.textContent, row?.querySelector('ins')?.textContent]).toEqual(['v1', 'v2'])
  expect(screen.getByRole('link', { name: 'The world' }).getAttribute('href')).toBe('/basemaps/world')
  expect(screen.queryByRole('link', { name: 'id-of-token' })).toBeNull()
  await screen.findByText('something.new')
})

test('Enter applies a filter, and an export contains the filtered list', async () => {
  const sent = serve()
  show(<Page />)
  await userEvent.type(await screen.findByRole('textbox', { name: 'User (exact)' }), 'ann@example.com')
  expect(sent()).toEqual(['?limit=25'])
  await userEvent.keyboard('{Enter}')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&actor=ann%40example.com'))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Action' }), 'Token issued')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&actor=ann%40example.com&action=token.issue'))
  const link = screen.getByRole('link', { name: 'Export CSV' })
  expect(link.getAttribute('href')).toBe(
    '/api/v1/admin/audit/export?format=csv&action=token.issue&actor=ann%40example.com',
  )
})

test('a time is entered in local time and sent with its zone', async () => {
  const sent = serve()
  show(<Page />)
  const field = await screen.findByLabelText('From')
  await userEvent.type(field, '2026-03-01T08:00')
  await userEvent.tab()
  const moment = encodeURIComponent(new Date('2026-03-01T08:00').toISOString())
  await waitFor(() => expect(sent().at(-1)).toBe(`?limit=25&from=${moment}`))
})
