// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { Link, Outlet, RouterProvider } from './components.js'
import { useParams } from './hooks.js'
import { matchPath } from './match.js'
import { memoryPlaces } from './places.js'
import { type Route, Router } from './router.js'

function Version() {
  const { code, version } = useParams()
  return (
    <>
      <p>
        {code} in {version}
      </p>
      <Link to="/faulty">on</Link>
    </>
  )
}

function Faulty(): never {
  throw new Error('this page throws')
}

function show(routes: readonly Route[], at = '/') {
  const router = new Router([...routes, { path: '*', Component: () => <p>nothing here</p> }], memoryPlaces([at]))
  render(
    <RouterProvider router={router}>
      <Outlet failed={({ error }) => <p>failed: {(error as Error).message}</p>} />
    </RouterProvider>,
  )
  return router
}

const VERSION: Route = { path: 'basemaps/:code/versions/:version', Component: Version }

test.each([
  ['basemaps/:code', '/basemaps/a%2Fb/', { code: 'a/b' }],
  ['basemaps/:code', '/basemaps/%zz', { code: '%zz' }],
  ['basemaps/:code', '/basemaps', null],
  ['basemaps/:code', '/basemaps/a/versions', null],
  ['', '/', {}],
  ['*', '/any/where', {}],
])('the pattern "%s" against %s gives %j', (pattern, path, params) => {
  expect(matchPath(pattern, path)).toEqual(params)
})

test('the parts of a path reach the page, and a path without a page shows the last route', async () => {
  const router = show([VERSION], '/basemaps/city%20map/versions/2026-11')
  await screen.findByText('city map in 2026-11')
  act(() => router.navigate('/no/such'))
  await screen.findByText('nothing here')
})

test('a page that throws is replaced by the reason, and the next page is shown', async () => {
  const router = show([VERSION, { path: 'faulty', Component: Faulty }], '/basemaps/a/versions/1')
  await userEvent.click(await screen.findByRole('link', { name: 'on' }))
  await screen.findByText('failed: this page throws')
  act(() => router.navigate(-1))
  await screen.findByText('a in 1')
})

test('a page whose code cannot be loaded tells the reason, and is loaded again the next time', async () => {
  let tries = 0
  const load = async () => {
    if (tries++ === 0) throw new Error('no such file')
    return () => <p>the page</p>
  }
  const router = show([VERSION, { path: 'late', load }], '/late')
  await screen.findByText('failed: no such file')
  act(() => router.navigate('/basemaps/a/versions/1'))
  await screen.findByText('a in 1')
  act(() => router.navigate('/late'))
  await screen.findByText('the page')
})

test('a page that is still being loaded is given up when another one is opened', async () => {
  let arrive = () => {}
  const load = () =>
    new Promise<() => React.ReactNode>((resolve) => {
      arrive = () => resolve(() => <p>late</p>)
    })
  const router = show([VERSION, { path: 'late', load }], '/basemaps/a/versions/1')
  act(() => router.navigate('/late'))
  expect(router.state.next?.pathname).toBe('/late')
  act(() => router.navigate('/basemaps/b/versions/1'))
  await screen.findByText('b in 1')
  await act(async () => arrive())
  expect(router.state).toMatchObject({ location: { pathname: '/basemaps/b/versions/1' }, next: null })
})

test('a link to the same place adds no entry to the history, and one with a modifier key is left to the browser', async () => {
  const router = show(
    [VERSION, { path: 'faulty', Component: () => <Link to="/faulty">again</Link> }],
    '/basemaps/a/versions/1',
  )
  await userEvent.click(await screen.findByRole('link', { name: 'on' }))
  await userEvent.click(await screen.findByRole('link', { name: 'again' }))
  await userEvent.keyboard('{Control>}')
  await userEvent.click(screen.getByRole('link', { name: 'again' }))
  act(() => router.navigate(-1))
  await screen.findByText('a in 1')
})
