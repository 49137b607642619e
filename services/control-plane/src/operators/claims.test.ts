import { expect, test } from 'vitest'
import { actorOf, nameOf, roleOf } from './claims.js'

const GRANTS = [
  { role: 'viewer', value: 'staff' },
  { role: 'admin', value: 'gis-admins' },
  { role: 'operator', value: 'gis' },
] as const

test.each([
  [{ groups: ['gis', 'gis-admins', 'staff'] }, 'admin'],
  [{ groups: ['staff', 'gis'] }, 'operator'],
  [{ groups: 'staff' }, 'viewer'],
  [{ groups: ['GIS-ADMINS', 'gis-admins '] }, null],
  [{ groups: [['gis-admins'], { value: 'gis-admins' }, 1] }, null],
  [{ roles: ['gis-admins'] }, null],
  [{}, null],
])('%j gives the role %s', (claims, role) => {
  expect(roleOf(claims, 'groups', GRANTS)).toBe(role)
})

test('a claim is found by its whole name, and otherwise inside others', () => {
  expect(roleOf({ realm_access: { roles: ['gis'] } }, 'realm_access.roles', GRANTS)).toBe('operator')
  expect(roleOf({ 'https://example.com/roles': ['gis'] }, 'https://example.com/roles', GRANTS)).toBe('operator')
  expect(roleOf({ realm_access: 'gis' }, 'realm_access.length', GRANTS)).toBeNull()
})

test('an asterisk gives a role to everyone whom the provider signs in', () => {
  const grants = [...GRANTS, { role: 'viewer', value: '*' } as const]
  expect(roleOf({}, 'groups', grants)).toBe('viewer')
  expect(roleOf({ groups: ['*'] }, 'groups', GRANTS)).toBeNull()
})

test('no user can have the name of an administrator’s credential in the audit', () => {
  expect(actorOf({ sub: '1', email: 'anna@example.com' })).toBe('anna@example.com')
  expect(actorOf({ sub: '1', email: 'anna@example.com', email_verified: false })).toBe('oidc:1')
  expect(actorOf({ sub: '1', email: 'admin', preferred_username: 'admin' })).toBe('oidc:admin')
  expect(actorOf({ sub: 'token' })).toBe('oidc:token')
})

test('a user is shown by name if the provider sends one', () => {
  expect(nameOf({ sub: '1', name: 'Anna Ode', email: 'anna@example.com' })).toBe('Anna Ode')
  expect(nameOf({ sub: '1', name: ' ', email: 'anna@example.com' })).toBe('anna@example.com')
})
