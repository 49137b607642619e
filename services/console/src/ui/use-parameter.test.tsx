// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react'
import { createMemoryRouter, RouterProvider } from 'react-router'
import { expect, test } from 'vitest'
import { useParameter } from './use-parameter.js'

test('a moving map does not delay a navigation to another page', async () => {
  let move = (_at: string) => {}
  let arrive = () => {}
  function Page() {
    const [at, setAt] = useParameter('at')
    move = setAt
    return <p>at {at}</p>
  }
  const next = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const lazy = async () => {
    await next
    return { element: <p>the next page</p> }
  }
  const router = createMemoryRouter([
    { path: '/', element: <Page /> },
    { path: '/next', lazy },
  ])
  render(<RouterProvider router={router} />)
  act(() => move('1'))
  await screen.findByText('at 1')
  act(() => void router.navigate('/next'))
  act(() => move('2'))
  await act(async () => arrive())
  await screen.findByText('the next page')
  expect(router.state.location).toMatchObject({ pathname: '/next', search: '' })
})
