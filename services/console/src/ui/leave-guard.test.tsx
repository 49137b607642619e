// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { SAVED } from '../router/router.js'
import { show } from '../testing/render.js'
import { FormGuard } from './leave-guard.js'

test('Back asks before it discards input, and leaves after confirmation', async () => {
  const { router } = show(<FormGuard isDirty={() => true} />)
  await act(() => router.navigate(-1))
  await screen.findByText('Your changes on this page will be lost.')
  await userEvent.click(screen.getByRole('button', { name: 'Stay' }))
  expect(router.state.location.pathname).toBe('/')
  await act(() => router.navigate(-1))
  await userEvent.click(await screen.findByRole('button', { name: 'Leave' }))
  await screen.findByText('elsewhere')
})

test('a form without input, or a saved one, is left without a question', async () => {
  const { router, unmount } = show(<FormGuard isDirty={() => false} />)
  await act(() => router.navigate('/elsewhere'))
  await screen.findByText('elsewhere')
  unmount()
  const { router: after } = show(<FormGuard isDirty={() => true} />)
  await act(() => after.navigate('/elsewhere', SAVED))
  await waitFor(() => expect(after.state.location.pathname).toBe('/elsewhere'))
})

test('Back to a page that was opened by a save asks as well', async () => {
  const { router } = show(<FormGuard isDirty={() => true} />)
  await act(() => router.navigate('/elsewhere', { ...SAVED, replace: true }))
  await act(() => router.navigate('/'))
  await act(() => router.navigate(-1))
  await screen.findByText('Your changes on this page will be lost.')
})

test('another tab of the page asks as well, and another filter does not', async () => {
  const { router } = show(<FormGuard isDirty={() => true} />)
  await act(() => router.navigate('/?q=city'))
  expect(router.state.location.search).toBe('?q=city')
  await act(() => router.navigate('/?q=city&tab=usage'))
  await screen.findByText('Your changes on this page will be lost.')
  await userEvent.click(screen.getByRole('button', { name: 'Stay' }))
  expect(router.state.location.search).toBe('?q=city')
})

test('reloading the page asks as well', () => {
  show(<FormGuard isDirty={() => true} />)
  const event = new Event('beforeunload', { cancelable: true })
  window.dispatchEvent(event)
  expect(event.defaultPrevented).toBe(true)
})
