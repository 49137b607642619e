// @vitest-environment happy-dom
import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { DefaultBeforeButton, defaultBefore } from './default-before.js'

const version = (label: string, fields = {}) => ({ version: label, available: true, withdrawn: false, ...fields })

function serve(before: string | null, after: string) {
  const detail = { before: { default_version: before }, after: { default_version: after } }
  const entry = { id: 1, action: 'basemap.default-version', subject: 'city', detail }
  return stubService(({ method }) => (method === 'GET' ? { items: [entry], total: 1 } : {}))
}

function basemap(now: string, ...versions: object[]) {
  return { code: 'city', default_version: now, versions } as unknown as AdminBasemap
}

test('one click restores the previous default version', async () => {
  const sent = serve('v1', 'v2')
  show(<DefaultBeforeButton basemap={basemap('v2', version('v1'), version('v2'))} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Roll back to v1' }))
  await waitFor(() => expect(sent.find(({ method }) => method === 'POST')?.body).toEqual({ version: 'v1' }))
})

const CHANGED = { before: { default_version: 'v1' }, after: { default_version: 'v2' } }

test.each([
  ['v1', 'is there', basemap('v2', version('v1'), version('v2')), CHANGED],
  [null, 'is gone', basemap('v2', version('v2')), CHANGED],
  [null, 'cannot be read', basemap('v2', version('v1', { available: false }), version('v2')), CHANGED],
  [null, 'is withdrawn', basemap('v2', version('v1', { withdrawn: true }), version('v2')), CHANGED],
  [null, 'was replaced by something else since', basemap('v3', version('v1'), version('v3')), CHANGED],
  [null, 'the release before noted', basemap('v2', version('v1'), version('v2')), { before: 'v1', version: 'v2' }],
])('%s is offered if the previous default %s', (offered, _how, current, detail) => {
  expect(defaultBefore(current, detail)).toBe(offered)
})
