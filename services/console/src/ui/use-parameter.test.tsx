// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Outlet, RouterProvider } from '../router/components.js'
import { memoryPlaces } from '../router/places.js'
import { Router } from '../router/router.js'
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
  const load = async () => {
    await next
    return () => <p>the next page</p>
  }
  const router = new Router(
    [
      { path: '/', Component: Page },
      { path: '/next', load },
    ],
    memoryPlaces(),
  )
  render(
    <RouterProvider router={router}>
      <Outlet failed={() => null} />
    </RouterProvider>,
  )
  act(() => move('1'))
  await screen.findByText('at 1')
  act(() => void router.navigate('/next'))
  act(() => move('2'))
  await act(async () => arrive())
  await screen.findByText('the next page')
  expect(router.state.location).toMatchObject({ pathname: '/next', search: '' })
})
