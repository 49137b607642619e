import type { Role } from '@gateway/contracts/operator.js'
import { MantineProvider } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { cleanup, configure, render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { createMemoryRouter, RouterProvider } from 'react-router'
import { vi } from 'vitest'
import { setLiveState } from '../api/live-state.js'
import { sessionQuery } from '../api/session.js'
import { createQueries } from '../app/queries.js'
import { en } from '../texts/en.js'
import { TextsProvider } from '../texts/texts.js'

// What a test waits for is bounded by its own limit: a second is too little where other tests want the processor.
configure({ asyncUtilTimeout: 15_000 })

/** After each test: those of components share the state of modules, since most of their time would go into loading them for each file. */
export function tidyUp() {
  cleanup()
  notifications.clean()
  notifications.cleanQueue()
  vi.unstubAllGlobals()
  setLiveState('connecting')
}

/** A component as a page of the console shows it to who has this role; `/elsewhere` is another page. */
export function show(component: ReactNode, role: Role = 'admin') {
  const queries = createQueries()
  queries.setQueryData(sessionQuery.queryKey, { name: role, actor: role, role, by: 'oidc', expires_at: null })
  const router = createMemoryRouter(
    [
      { path: '/', element: component },
      { path: '/elsewhere', element: <p>elsewhere</p> },
      { path: '*', element: <p>another page</p> },
    ],
    { initialEntries: ['/elsewhere', '/'] },
  )
  // Components read the address bar where the router may lag behind it.
  router.subscribe(({ location }) => window.history.replaceState(null, '', location.pathname + location.search))
  window.history.replaceState(null, '', '/')
  // Test mode: no transitions, which would not end here.
  const page = render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <TextsProvider language="en" texts={en}>
          <Notifications />
          <RouterProvider router={router} />
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

/** The service: answers what `answer` makes of a request; null: never, until the request is aborted. */
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
