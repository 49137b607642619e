// @vitest-environment happy-dom
import type { Role } from '@gateway/contracts/operator.js'
import { spotlight } from '@mantine/spotlight'
import { act, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, test } from 'vitest'
import { show, stubService } from '../testing/render.js'
import { Search } from './search.js'

const user = userEvent.setup({ delay: null })
afterEach(() => act(() => spotlight.close()))

/** A service with one basemap that responds to every search. */
function serve() {
  stubService(({ path }) => {
    const items = path.includes('/basemaps') ? [{ code: 'city', name: 'The city' }] : []
    return { items, total: items.length }
  })
}

async function type(text: string, role: Role = 'admin') {
  serve()
  const { router } = show(<Search />, role)
  act(() => spotlight.open())
  await user.type(await screen.findByRole('textbox', { name: 'Search' }), text)
  return router
}

test('Enter waits for the search', async () => {
  const router = await type('city{Enter}')
  await waitFor(() => expect(router.state.location.pathname).toBe('/basemaps/city'))
})

test('Enter opens the first result, even if no result is marked', async () => {
  const router = await type('city')
  await screen.findByText('The city')
  await user.keyboard('{Enter}')
  await waitFor(() => expect(router.state.location.pathname).toBe('/basemaps/city'))
})

test('an exact code is the first result, before pages of the same name and codes that contain it', async () => {
  stubService(({ path }) => {
    const codes = path.includes('/basemaps') ? ['old-tokens', 'tokens', 'tokens-2'] : []
    return { items: codes.map((code) => ({ code, name: `Map ${code}` })), total: codes.length }
  })
  const { router } = show(<Search />)
  act(() => spotlight.open())
  await user.type(await screen.findByRole('textbox', { name: 'Search' }), 'tokens')
  await screen.findByText('Map tokens')
  await user.keyboard('{Enter}')
  await waitFor(() => expect(router.state.location.pathname).toBe('/basemaps/tokens'))
})

test('actions are found by their words in any order', async () => {
  const router = await type('token issue')
  await user.click(await screen.findByText('Issue a token'))
  await waitFor(() => expect(router.state.location.pathname).toBe('/tokens/new'))
})

test('the actions of a found object are offered next to it', async () => {
  const router = await type('city')
  await user.click(await screen.findByText('Compare versions: The city'))
  await waitFor(() => expect(router.state.location.pathname).toBe('/basemaps/city/compare'))
})

test('actions that the role does not allow are not offered', async () => {
  await type('add', 'operator')
  await screen.findByText('The city')
  expect(screen.queryByText('Add a target')).toBeNull()
})

test('long names are not cut, because they often differ in their last letters', async () => {
  const name = `${'Cadastral survey of the northern harbour district, sheet '.repeat(3)}17`
  stubService(({ path }) => {
    const items = path.includes('/basemaps') ? [{ code: 'sheets', name }] : []
    return { items, total: items.length }
  })
  show(<Search />)
  act(() => spotlight.open())
  await user.type(await screen.findByRole('textbox', { name: 'Search' }), 'sheet')
  await screen.findByText(name)
  await screen.findByText(`Compare versions: ${name}`)
})
