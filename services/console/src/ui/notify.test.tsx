// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { ApiError } from '../api/client.js'
import { show } from '../testing/render.js'
import { en } from '../texts/en.js'
import { notifyFailed } from './notify.js'

const TITLE = 'The details were not saved'

test('a failed change names its remedy, and a missing response has no words of the browser', async () => {
  show(<p>page</p>)
  act(() => notifyFailed(TITLE, new ApiError(503, 'the store does not respond', { code: 'dependency_down' })))
  await screen.findByText('the store does not respond')
  screen.getByText(en.problem.advice.dependency_down ?? '')

  act(() => notifyFailed('The token was not changed', new ApiError(0, 'Failed to fetch')))
  await screen.findByText(en.problem.unreachable)
  expect(screen.queryByText('Failed to fetch')).toBeNull()
})

test('an action that fails again replaces its message', async () => {
  show(<p>page</p>)
  act(() => notifyFailed(TITLE, new ApiError(400, 'the first reason', { code: 'invalid_parameters' })))
  await screen.findByText('the first reason')
  act(() => notifyFailed(TITLE, new ApiError(400, 'the second reason', { code: 'invalid_parameters' })))
  await screen.findByText('the second reason')
  await waitFor(() => expect(screen.getAllByText(TITLE)).toHaveLength(1))
  expect(screen.queryByText('the first reason')).toBeNull()
})
