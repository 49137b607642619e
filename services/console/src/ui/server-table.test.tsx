// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { ApiError } from '../api/client.js'
import type { ListSource } from '../api/list.js'
import { show, stubService } from '../testing/render.js'
import { ServerTable } from './server-table.js'

interface Row {
  readonly name: string
}

const TOTAL = 60

/** Serves many rows, and applies the parameters of each request. */
function serve(total = TOTAL) {
  const sent = stubService(({ path }) => {
    const asked = new URL(path, 'http://gateway').searchParams
    const offset = Number(asked.get('offset') ?? 0)
    const left = asked.get('q') === 'nothing' ? 0 : total
    const items = Array.from({ length: Math.min(Number(asked.get('limit')), Math.max(0, left - offset)) }, (_, i) => ({
      name: `row ${offset + i}`,
    }))
    return { items, total: left }
  })
  return () => sent.map(({ path }) => new URL(path, 'http://gateway').search)
}

const ROWS: ListSource<Row, { status?: string }> = {
  key: 'rows',
  filters: ['status', 'target_code'],
  read: (query) => ({ method: 'GET', path: `/rows?${new URLSearchParams(query)}` }),
}

const DISABLE = { action: 'disable', label: 'Disable', needs: 'admin' } as const

const table = (
  <ServerTable
    source={ROWS}
    what="the rows"
    empty={{ title: 'There is nothing yet', icon: () => null, action: null, advice: '' } as never}
    label="Rows"
    search="Search rows"
    rowKey={({ name }) => name}
    columns={[
      { id: 'name', header: 'Name', sort: 'name', value: ({ name }) => name },
      { id: 'made', header: 'Made up', value: () => 'x' },
    ]}
    filters={[{ name: 'status', label: 'Status', options: [['active', 'Active']] }]}
  />
)

test('the service applies search, sorting, filters and pages, and the URL holds them', async () => {
  const sent = serve()
  const { router } = show(table)
  await screen.findByText('row 0')
  expect(sent()).toEqual(['?limit=25'])
  await userEvent.click(screen.getByRole('button', { name: 'Page 2' }))
  await screen.findByText('row 25')
  await userEvent.click(screen.getByRole('button', { name: 'Name' }))
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&sort=name'))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Status' }), 'Active')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&sort=name&status=active'))
  await userEvent.type(screen.getByRole('searchbox'), 'ab')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&q=ab&sort=name&status=active'))
  expect(router.state.location.search).toBe('?sort=name&status=active&q=ab')
  // The service cannot sort by this column.
  expect(screen.queryByRole('button', { name: 'Made up' })).toBeNull()
})

test('a search that fails leaves what was typed in its field', async () => {
  stubService(({ path }) => {
    if (path.includes('q=')) return new ApiError(400, 'the search is wrong')
    return { items: [{ name: 'row 0' }], total: 1 }
  })
  show(table)
  await screen.findByText('row 0')
  await userEvent.type(screen.getByRole('searchbox'), 'ab')
  expect((await screen.findByRole('alert')).textContent).toContain('the search is wrong')
  expect(screen.getByRole('searchbox')).toHaveProperty('value', 'ab')
})

test('a filter of the address that has no field narrows the list, and its chip removes it', async () => {
  const sent = serve()
  const { router } = show(table)
  await screen.findByText('row 0')
  await act(() => router.navigate('/?target_code=portal&unknown=1'))
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&target_code=portal'))
  await screen.findByText('Target: portal')
  await userEvent.click(screen.getByRole('button', { name: 'Remove the filter Target: portal' }))
  await waitFor(() => expect(router.state.location.search).toBe('?unknown=1'))
})

test('the number of rows on a page is kept for every list, and a click with Shift selects a range', async () => {
  const sent = serve()
  const bulk = { list: 'tokens', changes: [], actions: [DISABLE], nameOf: ({ name }: Row) => name } as const
  show(<ServerTable {...table.props} bulk={bulk} />)
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Rows on a page' }), '50 rows')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=50'))
  await screen.findByText('row 49')
  const user = userEvent.setup()
  await user.click(screen.getByRole('checkbox', { name: 'Select row 3' }))
  await user.keyboard('{Shift>}')
  await user.click(screen.getByRole('checkbox', { name: 'Select row 9' }))
  await user.keyboard('{/Shift}')
  await screen.findByText('7 selected')
  localStorage.removeItem('list.page-size')
})

test('the first click on the column by which a list is already sorted reverses the order', async () => {
  const sent = serve()
  show(<ServerTable {...table.props} order="-name" />)
  await screen.findByText('row 0')
  const heading = () => screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')
  expect([sent().at(-1), heading()]).toEqual(['?limit=25&sort=-name', 'descending'])
  await userEvent.click(screen.getByRole('button', { name: 'Name' }))
  await waitFor(() => expect([sent().at(-1), heading()]).toEqual(['?limit=25&sort=name', 'ascending']))
})

test('a pasted token is searched only by its prefix, the only part that a URL may contain', async () => {
  const sent = serve()
  const { router } = show(table)
  await userEvent.click(await screen.findByRole('searchbox'))
  await userEvent.paste('bmp_8Jq2vWxYk3LmNpQrStUvWxYz0123456789abcdefghi')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&q=bmp_8Jq2vWxY'))
  expect(router.state.location.search).toBe('?q=bmp_8Jq2vWxY')
})

test('an empty search result says so; an empty list shows the first step', async () => {
  serve()
  const { unmount } = show(table)
  await userEvent.type(await screen.findByRole('searchbox'), 'nothing')
  await screen.findByText('Nothing matches “nothing”')
  unmount()
  serve(0)
  show(table)
  await screen.findByText('There is nothing yet')
})

test('a page that no longer exists leads to the last existing page', async () => {
  serve()
  const { router } = show(table)
  await screen.findByText('row 0')
  await router.navigate('/?page=9')
  await screen.findByText('row 59')
  expect(router.state.location.search).toBe('?page=3')
})
