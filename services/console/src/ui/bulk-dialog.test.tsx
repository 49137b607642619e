// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../testing/render.js'
import { en } from '../texts/en.js'
import { TextsProvider } from '../texts/texts.js'
import { zh } from '../texts/zh.js'
import type { BulkAction } from './bulk.js'
import { catalogActions, deliveryActions, jobActions } from './bulk-actions.js'
import BulkDialog from './bulk-dialog.js'
import { useSelection } from './use-selection.js'

const ROWS = [{ code: 'city' }, { code: 'coast' }]

/** A dialog for all rows of a list. */
function DialogOf({ action }: { readonly action: BulkAction }) {
  const selection = useSelection<unknown>(ROWS, (row) => (row as { code: string }).code, {}, ROWS.length)
  const bulk = { list: 'basemaps', changes: [], actions: [], nameOf: () => 'City' } as const
  return <BulkDialog bulk={bulk} selection={selection} action={action} onClose={vi.fn()} />
}
const withdrawing = (texts = en) => catalogActions(texts)[0] as BulkAction

test('the confirmation of many items says what the action does', async () => {
  stubService(() => null)
  show(<DialogOf action={withdrawing()} />)
  await screen.findByText(en.work.bulk.effects.withdraw)
})

test.each([
  ['jobs', jobActions(en)[0]],
  ['pushes', deliveryActions(en)[2]],
] as [string, BulkAction][])(
  'an action that cancels %s has another name than the button that changes nothing',
  async (_, action) => {
    stubService(() => null)
    show(<DialogOf action={action} />)
    await screen.findByRole('button', { name: action.label })
    const names = screen.getAllByRole('button').map(({ textContent }) => textContent)
    expect(names.filter((name) => name === action.label)).toHaveLength(1)
    expect(names.filter((name) => name?.includes('Cancel'))).toHaveLength(1)
  },
)

test('incomplete parameters are named by the action that needs them', async () => {
  const sent = stubService(() => null)
  const Fields = () => <p>until when</p>
  show(<DialogOf action={{ action: 'extend', label: 'Extend', needs: 'admin', Fields, needed: 'Choose a date' }} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Extend' }))
  await screen.findByText('Choose a date')
  expect(sent).toEqual([])
})

test('the outcome names the edges that confirmed, and translates why an item was not changed', async () => {
  const failed = [
    { id: 'gone', code: 'not_found', error: 'no such basemap', details: [{ code: 'basemap_not_found', params: {} }] },
    { id: 'old', code: 'not_found', error: 'words of an older service' },
  ]
  stubService(() => ({ matched: 3, done: 1, failed, confirmed: [{ id: 'a' }], pending: [{ id: 'b' }] }))
  const dialog = <DialogOf action={withdrawing(zh)} />
  show(
    <TextsProvider language="zh" texts={zh}>
      {dialog}
    </TextsProvider>,
  )
  await userEvent.click(await screen.findByRole('button', { name: zh.work.bulk.actions.withdraw }))
  await screen.findByText(zh.withdraw.confirmedBy(1, 2))
  await screen.findByTitle('no such basemap')
  expect(screen.queryByText('no such basemap')).toBeNull()
  screen.getByText('words of an older service')
})
