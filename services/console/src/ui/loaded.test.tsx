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
