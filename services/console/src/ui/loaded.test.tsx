// @vitest-environment happy-dom
import { useQuery } from '@tanstack/react-query'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { ApiError } from '../api/client.js'
import { show } from '../testing/render.js'
import { Loaded } from './loaded.js'

test('a page says that its object was deleted meanwhile, and keeps the input of its form', async () => {
  const answers = [() => 'the token', () => Promise.reject(new ApiError(404, 'no such token'))]
  function TokenPage() {
    const query = useQuery({ queryKey: ['token'], queryFn: () => answers.shift()?.() })
    return (
      <Loaded
        query={query}
        what="the token"
        missing={{ title: 'No such token', back: { label: 'Tokens', to: '/tokens' } }}
      >
        {(name) => (
          <>
            <input aria-label="Name" defaultValue={name} />
            <button type="button" onClick={() => void query.refetch()}>
              Refresh
            </button>
          </>
        )}
      </Loaded>
    )
  }
  show(<TokenPage />)
  await userEvent.type(await screen.findByLabelText('Name'), ' of the harbour')
  expect(screen.queryByText('No such token')).toBeNull()
  await userEvent.click(screen.getByText('Refresh'))
  await screen.findByText('No such token')
  expect(screen.getByRole('link', { name: 'Tokens' }).getAttribute('href')).toContain('/tokens')
  expect(screen.getByLabelText('Name')).toHaveProperty('value', 'the token of the harbour')
})

test('a failure is shown until another attempt succeeds, with its remedy', async () => {
  const answers: (() => unknown)[] = [
    () => Promise.reject(new ApiError(413, '413 Payload Too Large')),
    () => new Promise((_, reject) => setTimeout(reject, 50, new ApiError(401, '401 Unauthorized'))),
    () => 'the list',
  ]
  function ListPage() {
    const query = useQuery({ queryKey: ['list'], queryFn: () => answers.shift()?.() })
    return (
      <Loaded query={query} what="the list">
        {(text) => <p>{String(text)}</p>}
      </Loaded>
    )
  }
  show(<ListPage />)
  await screen.findByText(/Send less data/)
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  // Neither a placeholder nor an empty page comes between.
  expect(screen.queryByRole('status')).toBeNull()
  expect(screen.getByRole('alert').textContent).toContain('413')
  await screen.findByText(/Sign in again/)
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  await screen.findByText('the list')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a refresh that fails is told above the data, and the input of a form stays', async () => {
  const answers = [() => 'the harbour', () => Promise.reject(new ApiError(400, 'a filter is wrong'))]
  function FormPage() {
    const query = useQuery({ queryKey: ['form'], queryFn: () => answers.shift()?.() })
    return (
      <Loaded query={query} what="the map">
        {(name) => (
          <>
            <input aria-label="Name" defaultValue={name} />
            <button type="button" onClick={() => void query.refetch()}>
              Refresh
            </button>
          </>
        )}
      </Loaded>
    )
  }
  show(<FormPage />)
  await userEvent.type(await screen.findByLabelText('Name'), ' of the town')
  await userEvent.click(screen.getByText('Refresh'))
  expect((await screen.findByRole('alert')).textContent).toContain('a filter is wrong')
  expect(screen.getByLabelText('Name')).toHaveProperty('value', 'the harbour of the town')
})
