import { expect, test } from 'vitest'
import { parseRanges } from './client-address.js'
import { type AccessToken, decide, type WantedResource } from './decide.js'
import type { Sender } from './token-limits.js'

const NOW = 1_000_000

function token(over: Partial<AccessToken> = {}): AccessToken {
  return {
    id: 'id',
    prefix: 'bmp_12345678',
    scopes: new Set(['read']),
    basemaps: new Set(['world']),
    vectors: new Set(['roads', 'a/b.geojson', 'main.shp']),
    layers: new Set(['city']),
    expiresAtMs: null,
    disabled: false,
    limits: null,
    ...over,
  }
}

const world: WantedResource = { kind: 'basemap', code: 'world' }
const code = (t: AccessToken | null, wanted: WantedResource = world, scope: 'read' | 'slice' = 'read') => {
  const decision = decide(t, wanted, scope, NOW, null)
  return decision.ok ? 'ok' : decision.code
}

test('a granted basemap is allowed', () => expect(code(token())).toBe('ok'))
test('an unknown token is refused before all other checks', () => expect(code(null)).toBe('token_unknown'))
test('a disabled token is refused as disabled even if it is expired too', () =>
  expect(code(token({ disabled: true, expiresAtMs: 1 }))).toBe('token_disabled'))
test('a token expires exactly at its time', () => {
  expect(code(token({ expiresAtMs: NOW }))).toBe('token_expired')
  expect(code(token({ expiresAtMs: NOW + 1 }))).toBe('ok')
})
test('an expired token is refused before its missing scope', () =>
  expect(code(token({ expiresAtMs: NOW, scopes: new Set() }))).toBe('token_expired'))
test('a missing scope is refused before a missing grant', () =>
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
test('a check of only the scope is possible', () => {
  expect(code(token({ scopes: new Set(['slice']) }), null, 'slice')).toBe('ok')
  expect(code(token(), null, 'slice')).toBe('scope_missing')
})

const limited = (origins: string[], networks: string[], over: Partial<AccessToken> = {}) =>
  token({ limits: { origins: new Set(origins), networks: parseRanges(networks), rate: null, area: null }, ...over })
const SENDER: Sender = { origin: '', referer: '', address: '203.0.113.9' }
const from = (t: AccessToken, sender: Partial<Sender> | null) => {
  const decision = decide(t, world, 'read', NOW, sender === null ? null : { ...SENDER, ...sender })
  return decision.ok ? 'ok' : decision.code
}
const MAPS = 'https://maps.example.com'

test.each([
  [{ origin: MAPS }, 'ok'],
  [{ referer: `${MAPS}/a/page?b=c` }, 'ok'],
  [{ origin: 'https://other.example.com', referer: `${MAPS}/` }, 'origin_not_allowed'],
  [{ origin: 'null', referer: `${MAPS}/` }, 'origin_not_allowed'],
  [{ origin: `${MAPS}:8443` }, 'origin_not_allowed'],
  [{ origin: 'http://maps.example.com' }, 'origin_not_allowed'],
  [{ referer: `${MAPS}.evil.test/` }, 'origin_not_allowed'],
  [{ referer: 'no address' }, 'origin_not_allowed'],
  [{}, 'origin_not_allowed'],
  [null, 'origin_not_allowed'],
])('a token for one origin, used from %j: %s', (sender, expected) =>
  expect(from(limited([MAPS], []), sender)).toBe(expected),
)

test.each([
  [{ address: '10.1.2.3' }, 'ok'],
  [{ address: '::ffff:10.1.2.3' }, 'ok'],
  [{ address: '192.0.2.7' }, 'ok'],
  [{ address: '2001:db8::1' }, 'ok'],
  [{ address: '192.0.2.8' }, 'network_not_allowed'],
  [{ address: '2001:db9::1' }, 'network_not_allowed'],
  [{ address: 'no address' }, 'network_not_allowed'],
  [null, 'network_not_allowed'],
])('a token for some networks, used from %j: %s', (sender, expected) =>
  expect(from(limited([], ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']), sender)).toBe(expected),
)

test('limits are checked after the state of the token and before its scopes and grants', () => {
  expect(from(limited([MAPS], [], { expiresAtMs: NOW }), null)).toBe('token_expired')
  expect(from(limited([MAPS], [], { scopes: new Set(), basemaps: new Set() }), null)).toBe('origin_not_allowed')
  expect(from(limited([MAPS], ['10.0.0.0/8']), { origin: MAPS })).toBe('network_not_allowed')
})
