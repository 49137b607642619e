// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { type ReactNode, useLayoutEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { setLiveState } from '../api/live-state.js'
import { show } from '../testing/render.js'
import { part } from './part.js'

/** A part whose first attempts to load fail. */
function failing(failures: number) {
  let attempts = 0
  return part<{ readonly name: string }>(async () => {
    if (attempts++ < failures) throw new Error('no such file')
    return ({ name }) => <p>the part of {name}</p>
  })
}

test('a part whose code cannot be loaded leaves the input of the form around it, and is loaded by another attempt', async () => {
  const Part = failing(1)
  show(
    <form>
      <input aria-label="name" />
      <Part name="the form" />
    </form>,
  )
  await screen.findByText('This part of the page could not be loaded')
  await userEvent.type(screen.getByLabelText('name'), 'field team')
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  await screen.findByText('the part of the form')
  expect((screen.getByLabelText('name') as HTMLInputElement).value).toBe('field team')
})

test('a service that responds and lacks the file has another version of the console, and the page says so', async () => {
  setLiveState('live')
  const Part = failing(2)
  show(<Part name="the page" />)
  await screen.findByText(/newer version of the console/)
})

test('a part that was loaded in advance is shown at once', async () => {
  const Part = failing(0)
  await Part.prepare()
  show(<Part name="the page" />)
  expect(screen.getByText('the part of the page')).toBeDefined()
})

test('a part that nobody misses shows nothing if its code cannot be loaded', async () => {
  const Optional = part(
    async () => {
      throw new Error('no such file')
    },
    { isOptional: true },
  )
  const { container } = show(
    <div data-testid="around">
      <Optional />
    </div>,
  )
  await Optional.prepare()
  expect(container.querySelector('[data-testid="around"]')?.textContent).toBe('')
})

test('code that arrives between the first drawing and its effect is shown', async () => {
  let arrive: (component: () => ReactNode) => void = () => {}
  const Late = part(() => new Promise<() => ReactNode>((resolve) => (arrive = resolve)), {
    Pending: () => {
      useLayoutEffect(() => arrive(() => <p>arrived</p>))
      return <p>pending</p>
    },
  })
  void Late.prepare()
  // Without `act`, which runs effects before anything can arrive.
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false)
  onTestFinished(() => void vi.unstubAllGlobals())
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  root.render(<Late />)
  await expect.poll(() => place.textContent).toBe('arrived')
  root.unmount()
  place.remove()
})
