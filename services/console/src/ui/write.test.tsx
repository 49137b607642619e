// @vitest-environment happy-dom
import { onlineManager } from '@tanstack/react-query'
import { act, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { updateBasemap } from '../api/catalog.js'
import { setLiveState } from '../api/live-state.js'
import { show, stubService } from '../testing/render.js'
import { WithdrawButton } from './withdraw.js'

const buttonOf = (code: string) => (
  <WithdrawButton withdrawal={(withdrawn) => updateBasemap(code, { withdrawn })} name="The city" withdrawn={false} />
)
const button = buttonOf('city')
const confirm = async () => {
  await userEvent.click(screen.getByRole('button', { name: 'Withdraw' }))
  const dialog = await screen.findByRole('dialog')
  const [action] = [...dialog.querySelectorAll('button')].filter(({ textContent }) => textContent === 'Withdraw')
  await userEvent.click(action as HTMLElement)
}

test('a cancelled change is aborted, and the page says that it may have arrived', async () => {
  const sent = stubService(() => null)
  show(button)
  await confirm()
  await waitFor(() => expect(sent).toHaveLength(1))
  expect(sent[0]).toMatchObject({ method: 'PATCH', path: '/api/v1/admin/basemaps/city', body: { withdrawn: true } })
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(sent[0]?.signal.aborted).toBe(true)
  await screen.findByText('The request was cancelled')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a change is sent once, although its button is pressed again before the page is drawn', async () => {
  const sent = stubService(() => null)
  show(button)
  await userEvent.click(screen.getByRole('button', { name: 'Withdraw' }))
  const dialog = await screen.findByRole('dialog')
  const [action] = [...dialog.querySelectorAll('button')].filter(({ textContent }) => textContent === 'Withdraw')
  for (let i = 0; i < 3; i++) action?.click()
  await waitFor(() => expect(sent).toHaveLength(1))
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(sent[0]?.signal.aborted).toBe(true))
  // Afterwards it may be made again.
  await confirm()
  await waitFor(() => expect(sent).toHaveLength(2))
})

test('a change fails at once while offline, and is not sent later', async () => {
  const sent = stubService(() => new TypeError('Failed to fetch'))
  onlineManager.setOnline(false)
  try {
    show(button)
    await confirm()
    await screen.findByText('Nothing was changed')
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
    onlineManager.setOnline(true)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(sent).toHaveLength(1)
  } finally {
    onlineManager.setOnline(true)
  }
})

test('nothing can be changed while the service does not respond', async () => {
  stubService(() => null)
  show(button)
  act(() => setLiveState('away'))
  expect(screen.getByRole('button', { name: 'Withdraw' })).toHaveProperty('disabled', true)
  act(() => setLiveState('live'))
  expect(screen.getByRole('button', { name: 'Withdraw' })).toHaveProperty('disabled', false)
})

test('a dialog shows the equivalent command, with the credential from the environment', async () => {
  stubService(() => null)
  show(buttonOf("o'hare"))
  await userEvent.click(screen.getByRole('button', { name: 'Withdraw' }))
  await userEvent.click(await screen.findByRole('button', { name: 'As a command' }))
  expect((await screen.findByRole('group', { name: 'As a command' })).textContent).toBe(
    [
      `curl -X PATCH '${window.location.origin}/api/v1/admin/basemaps/o'\\''hare'`,
      '-H "Authorization: Bearer $ADMIN_TOKEN"',
      "-H 'Content-Type: application/json'",
      `-d '{"withdrawn":true}'`,
    ].join(' \\\n  '),
  )
})

test('a warning about a saved value stays on the page under a title by its code', async () => {
  const warnings = [
    { code: 'path_missing', message: 'path: "/maps" does not exist on this machine' },
    { code: 'of_a_newer_service', message: 'something else' },
  ]
  stubService(() => ({ confirmed: [], pending: [], warnings }))
  show(button)
  await confirm()
  await screen.findByText('Saved, but the directory does not exist')
  await screen.findByText('path: "/maps" does not exist on this machine')
  await screen.findByText('Saved with a warning')
})
