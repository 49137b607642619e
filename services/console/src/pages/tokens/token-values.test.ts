import type { Token } from '@gateway/contracts/token.js'
import { expect, test } from 'vitest'
import { bodyOf, NEW_TOKEN, valuesOf } from './token-values.js'

const TOKEN: Token = {
  id: '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10',
  name: 'Road works',
  prefix: 'bmp_8Jq2vWxY',
  basemap_codes: ['world'],
  vector_codes: ['*'],
  layer_codes: ['*'],
  scopes: ['read'],
  allowed_origins: ['https://maps.example.com'],
  allowed_networks: [],
  rate_limit: { per_second: 5, burst: 10 },
  bounds: null,
  expires_at: '2027-03-01T00:00:17.250Z',
  disabled_at: null,
  created_at: '2026-03-01T00:00:00.000Z',
  first_used_at: null,
  first_used_from: null,
  last_used_at: null,
  last_used_from: null,
  last_refused_at: null,
  refused_by: {},
  previous_prefix: null,
  previous_expires_at: null,
}

test('unchanged values are not sent, not even a time that the form shows only to the minute', () => {
  const values = valuesOf(TOKEN)
  expect(bodyOf(values, values)).toEqual({})
  expect(bodyOf({ ...values, name: ' Road works 2 ' }, values)).toEqual({ name: 'Road works 2' })
  expect(bodyOf({ ...values, networks: ['10.0.0.0/8'], origins: [] }, values)).toEqual({
    allowed_networks: ['10.0.0.0/8'],
    allowed_origins: [],
  })
})

test('an area is sent as four numbers, and as null if it was removed', () => {
  const values = valuesOf(TOKEN)
  expect(bodyOf({ ...values, area: '170, -20, -170, 20' }, values)).toEqual({ bounds: [170, -20, -170, 20] })
  const bounded = valuesOf({ ...TOKEN, bounds: [5.5, 45, 15, 55] })
  expect([bounded.area, bodyOf(bounded, bounded)]).toEqual(['5.5, 45, 15, 55', {}])
  expect(bodyOf({ ...bounded, area: ' ' }, bounded)).toEqual({ bounds: null })
})

test('a rate limit is sent as a whole, and as null if it was removed', () => {
  const values = valuesOf(TOKEN)
  expect(bodyOf({ ...values, burst: '' }, values)).toEqual({ rate_limit: { per_second: 5 } })
  expect(bodyOf({ ...values, perSecond: '' }, values)).toEqual({ rate_limit: null })
})

test('grants and expiry are sent in the format of the API', () => {
  const values = valuesOf(TOKEN)
  const grant = { mode: 'chosen', codes: ['world', 'city'], unknown: '', searching: false } as const
  const none = { mode: 'none', codes: ['kept in the form'], unknown: '', searching: false } as const
  expect(bodyOf({ ...values, basemaps: grant, vectors: none, expiry: 'never' }, values)).toEqual({
    basemap_codes: ['world', 'city'],
    vector_codes: [],
    expires_at: 0,
  })
  expect(bodyOf({ ...values, scopes: ['sign'], basemaps: grant, vectors: grant }, values)).toEqual({
    scopes: ['sign'],
    basemap_codes: ['world', 'city'],
    vector_codes: [],
  })
  // Without the scope read the token reads nothing.
  expect(bodyOf({ ...values, scopes: ['slice'] }, values)).toEqual({
    scopes: ['slice'],
    basemap_codes: [],
    vector_codes: [],
  })
})

test('a new token has the usual expiry unless another one is chosen', () => {
  expect(bodyOf({ ...NEW_TOKEN, name: 'x' }, null)).not.toHaveProperty('expires_at')
  const at = bodyOf({ ...NEW_TOKEN, name: 'x', expiry: 'at', moment: '2030-01-01T00:00' }, null).expires_at
  expect(Date.parse(String(at))).toBe(new Date('2030-01-01T00:00').getTime())
})

test('layers are sent only if they changed, and a new token has all of them', () => {
  const values = valuesOf({ ...TOKEN, layer_codes: ['city'], scopes: ['slice'] })
  const layers = { mode: 'chosen', codes: ['city', 'port'], unknown: '', searching: false } as const
  expect(bodyOf({ ...values, layers }, values)).toEqual({ layer_codes: ['city', 'port'] })
  expect(bodyOf({ ...values, layers: { ...layers, mode: 'none' } }, values)).toEqual({ layer_codes: [] })
  expect(bodyOf({ ...NEW_TOKEN, name: 'x', scopes: ['slice'] }, null)).toMatchObject({ layer_codes: ['*'] })
  expect(bodyOf({ ...values, scopes: ['slice', 'sign'] }, values)).not.toHaveProperty('layer_codes')
})
