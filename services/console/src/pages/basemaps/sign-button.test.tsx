// @vitest-environment happy-dom
import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { CachePolicyField } from './cache-policy-field.js'
import { SignButton } from './sign-button.js'

const user = userEvent.setup({ delay: null })
const version = (label: string, more: Partial<AdminBasemapVersion> = {}) =>
  ({ version: label, available: true, withdrawn: false, ...more }) as AdminBasemapVersion

test('URLs are signed for a served version for a limited time, and shown', async () => {
  const sent = stubService(() => ({
    url_template: 'http://x/tiles?sig=1',
    tilejson_url: 'http://x/tilejson?sig=1',
    archive_url: null,
    expires_at: '2031-01-01T00:00:00.000Z',
  }))
  show(<SignButton code="world" name="World" versions={[version('v1'), version('v2', { withdrawn: true })]} />)
  await user.click(screen.getByRole('button', { name: 'Create signed URLs' }))
  const versions = await screen.findByRole('combobox', { name: 'Version' })
  expect([...versions.querySelectorAll('option')].map(({ value }) => value)).toEqual(['', 'v1'])
  await user.selectOptions(versions, 'v1')
  await user.click(screen.getByRole('button', { name: 'Sign' }))
  expect(await screen.findByRole('group', { name: 'Tiles' })).toHaveProperty('textContent', 'http://x/tiles?sig=1')
  expect(screen.queryByRole('group', { name: 'Archive' })).toBeNull()
  const body = { basemap_code: 'world', version: 'v1', expires_at: expect.stringMatching(/Z$/) }
  expect(sent.map((one) => [one.method, one.path, one.body])).toEqual([['POST', '/api/v1/admin/signed-urls', body]])
})

test('the cache policy of a basemap is set, with seconds only for shared caches', async () => {
  const sent = stubService(() => ({}))
  const basemap = { code: 'world', name: 'World', cache_policy: 'interface', s_maxage: null } as never
  show(<CachePolicyField basemap={basemap} />)
  const set = screen.getByRole('button', { name: 'Set policy' })
  expect(set).toHaveProperty('disabled', true)
  for (const policy of ['private', 'shared']) {
    await user.selectOptions(screen.getByRole('combobox', { name: 'Caching' }), policy)
    await user.click(set)
  }
  expect(sent.map((one) => [one.method, one.path, one.body])).toEqual([
    ['PATCH', '/api/v1/admin/basemaps/world', { cache_policy: 'private' }],
    ['PATCH', '/api/v1/admin/basemaps/world', { cache_policy: 'shared', s_maxage: 86_400 }],
  ])
})
