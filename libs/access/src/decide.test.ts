import { expect, test } from 'vitest'
import { type AccessToken, decide, type WantedResource } from './decide.js'

const NOW = 1_000_000

function token(over: Partial<AccessToken> = {}): AccessToken {
  return {
    id: 'id',
    prefix: 'bmp_12345678',
    scopes: new Set(['read']),
    basemaps: new Set(['world']),
    vectors: new Set(['roads', 'a/b.geojson', 'main.shp']),
    expiresAtMs: null,
    disabled: false,
    ...over,
  }
}

const world: WantedResource = { kind: 'basemap', code: 'world' }
const code = (t: AccessToken | null, wanted: WantedResource = world, scope: 'read' | 'slice' = 'read') => {
  const decision = decide(t, wanted, scope, NOW)
  return decision.ok ? 'ok' : decision.code
}

test('a granted basemap is allowed', () => expect(code(token())).toBe('ok'))
test('an unknown token comes before everything', () => expect(code(null)).toBe('token_unknown'))
test('a disabled token is refused even if it is expired too', () =>
  expect(code(token({ disabled: true, expiresAtMs: 1 }))).toBe('token_disabled'))
test('a token expires at its moment, not after it', () => {
  expect(code(token({ expiresAtMs: NOW }))).toBe('token_expired')
  expect(code(token({ expiresAtMs: NOW + 1 }))).toBe('ok')
})
test('an expired token is refused before its missing scope is told', () =>
  expect(code(token({ expiresAtMs: NOW, scopes: new Set() }))).toBe('token_expired'))
test('a missing scope comes before a missing grant', () =>
  expect(code(token({ scopes: new Set(['slice']), basemaps: new Set() }))).toBe('scope_missing'))
test('a basemap that is not granted is refused', () =>
  expect(code(token(), { kind: 'basemap', code: 'other' })).toBe('resource_not_granted'))
test('an empty list grants nothing', () => expect(code(token({ basemaps: new Set() }))).toBe('resource_not_granted'))
test('a star grants all', () =>
  expect(code(token({ basemaps: new Set(['*']) }), { kind: 'basemap', code: 'x' })).toBe('ok'))
test('a star for basemaps grants no vector', () =>
  expect(code(token({ basemaps: new Set(['*']), vectors: new Set() }), { kind: 'vector', names: ['roads'] })).toBe(
    'resource_not_granted',
  ))
test.each(['roads', 'a/b.geojson', 'main.shp'])('a vector is granted by any of its names: %s', (name) =>
  expect(code(token(), { kind: 'vector', names: ['x', name] })).toBe('ok'),
)
test('the scope alone can be asked for', () => {
  expect(code(token({ scopes: new Set(['slice']) }), null, 'slice')).toBe('ok')
  expect(code(token(), null, 'slice')).toBe('scope_missing')
})
