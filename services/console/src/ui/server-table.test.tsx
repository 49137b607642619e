// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ListSource } from '../api/list.js'
import { show, stubService } from '../testing/render.js'
import { ServerTable } from './server-table.js'

interface Row {
  readonly name: string
}

const TOTAL = 60

/** A service with many rows, that answers as it is asked. */
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
  read: (query) => ({ method: 'GET', path: `/rows?${new URLSearchParams(query)}` }),
}

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

test('search, sorting, filters and pages are the service’s, and are in the address', async () => {
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
  // The service does not sort by it.
  expect(screen.queryByRole('button', { name: 'Made up' })).toBeNull()
})

test('a list that has an order of its own is sorted the other way by the first press on that column', async () => {
  const sent = serve()
  show(<ServerTable {...table.props} order="-name" />)
  await screen.findByText('row 0')
  const heading = () => screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')
  expect([sent().at(-1), heading()]).toEqual(['?limit=25&sort=-name', 'descending'])
  await userEvent.click(screen.getByRole('button', { name: 'Name' }))
  await waitFor(() => expect([sent().at(-1), heading()]).toEqual(['?limit=25&sort=name', 'ascending']))
})

test('a token that is pasted whole is searched by its prefix, which is all that an address may hold', async () => {
  const sent = serve()
  const { router } = show(table)
  await userEvent.click(await screen.findByRole('searchbox'))
  await userEvent.paste('bmp_8Jq2vWxYk3LmNpQrStUvWxYz0123456789abcdefghi')
  await waitFor(() => expect(sent().at(-1)).toBe('?limit=25&q=bmp_8Jq2vWxY'))
  expect(router.state.location.search).toBe('?q=bmp_8Jq2vWxY')
})

test('a search without a result says so; an empty list says what to do first', async () => {
  serve()
  const { unmount } = show(table)
  await userEvent.type(await screen.findByRole('searchbox'), 'nothing')
  await screen.findByText('Nothing matches “nothing”')
  unmount()
  serve(0)
  show(table)
  await screen.findByText('There is nothing yet')
})

test('a page that is gone leads to the last one that is there', async () => {
  serve()
  const { router } = show(table)
  await screen.findByText('row 0')
  await router.navigate('/?page=9')
  await screen.findByText('row 59')
  expect(router.state.location.search).toBe('?page=3')
})
