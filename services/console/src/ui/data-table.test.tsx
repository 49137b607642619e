// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { en } from '../texts/en.js'
import { nameColumn } from './columns.js'
import { DataTable } from './data-table.js'

const user = userEvent.setup({ delay: null })
const rows = Array.from({ length: 12 }, (_, i) => ({ code: `c${i}`, name: `Map ${i}` }))
const table = (
  <DataTable
    label="Maps"
    rows={rows}
    columns={[nameColumn(en, (code) => `/maps/${code}`)]}
    rowKey={({ code }) => code}
    search="Search maps"
    pageSize={5}
  />
)
const links = () =>
  within(screen.getByRole('table'))
    .getAllByRole('link')
    .map(({ textContent }) => textContent)

test('the URL holds sorting and page, and a search shows its first page', async () => {
  const { router } = show(table)
  await user.click(screen.getByRole('button', { name: 'Name' }))
  await user.click(screen.getByRole('button', { name: 'Name' }))
  await user.click(screen.getByRole('button', { name: 'Page 2' }))
  expect(router.state.location.search).toBe('?sort=-name&page=2')
  expect(links()).toEqual(['Map 6', 'Map 5', 'Map 4', 'Map 3', 'Map 2'])
  await user.type(screen.getByRole('searchbox'), '1')
  await waitFor(() => expect(router.state.location.search).toBe('?sort=-name&q=1'))
  await waitFor(() => expect(links()).toEqual(['Map 11', 'Map 10', 'Map 1']))
})

test('a name is isolated from its surroundings, shows its control characters, and is completely shown on hover', async () => {
  const long = `${'long '.repeat(36)}name`
  const named = [
    { code: 'a', name: '\u202eelbaliava' },
    { code: 'b', name: long },
  ]
  show(<DataTable label="Maps" rows={named} columns={[nameColumn(en, () => '/')]} rowKey={({ code }) => code} />)
  const [marked, cut] = within(screen.getByRole('table')).getAllByRole('link')
  expect(marked?.querySelector('bdi')?.textContent).toBe('\ufffdelbaliava')
  await user.hover(cut?.querySelector('bdi') as Element)
  expect((await screen.findByRole('tooltip')).textContent).toBe(long)
})
