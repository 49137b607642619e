import type { Role } from '@gateway/contracts/operator.js'
import { MantineProvider } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { cleanup, configure, render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { vi } from 'vitest'
import { setLiveState } from '../api/live-state.js'
import { sessionQuery } from '../api/session.js'
import { createQueries } from '../app/queries.js'
import { Outlet, RouterProvider } from '../router/components.js'
import { memoryPlaces } from '../router/places.js'
import { Router } from '../router/router.js'
import { en } from '../texts/en.js'
import { TextsProvider } from '../texts/texts.js'

// Waits are limited by the time limit of the test: a second is too short on a busy machine.
configure({ asyncUtilTimeout: 15_000 })

/** Cleans up after each test: component tests share the state of modules, because loading them for each file would take most of their time. */
export function tidyUp() {
  cleanup()
  notifications.clean()
  notifications.cleanQueue()
  vi.unstubAllGlobals()
  setLiveState('connecting')
}

/** Renders a component like a page of the console for a user with this role; `/elsewhere` is another page. */
export function show(component: ReactNode, role: Role = 'admin') {
  const router = new Router(
    [
      { path: '/', Component: () => component },
      { path: '/elsewhere', Component: () => <p>elsewhere</p> },
      { path: '*', Component: () => <p>another page</p> },
    ],
    memoryPlaces(['/elsewhere', '/']),
  )
  return showRouter(router, role)
}

/** Renders the page of a router's place for a user with this role. */
export function showRouter(router: Router, role: Role = 'admin') {
  const queries = createQueries()
  queries.setQueryData(sessionQuery.queryKey, { name: role, actor: role, role, by: 'oidc', expires_at: null })
  // Test mode: no transitions, since they would never end here.
  const page = render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <TextsProvider language="en" texts={en}>
          <Notifications />
          <RouterProvider router={router}>
            <Outlet failed={({ error }) => <p>{String(error)}</p>} />
          </RouterProvider>
        </TextsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { ...page, router }
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly signal: AbortSignal
}

/** Stubs the service: `answer` returns the response to a request; null: no response until the request is aborted. */
export function stubService(answer: (request: Sent) => unknown): readonly Sent[] {
  const sent: Sent[] = []
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const signal = init.signal as AbortSignal
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : null
    const request = { method: init.method ?? 'GET', path, body, signal }
    sent.push(request)
    const made = answer(request)
    if (made instanceof Error) return Promise.reject(made)
    if (made !== null) return Promise.resolve(Response.json(made))
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  return sent
}
