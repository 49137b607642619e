import { expect, test } from 'vitest'
import { isAdminRequest } from './admin-path.js'

test('an admin route is gated whatever form the URL has', () => {
  expect(isAdminRequest('/api/v1/admin/tokens/:id/disable', '/x')).toBe(true)
  expect(isAdminRequest('/admin/*', '/x')).toBe(true)
})

test.each([
  '/admin',
  '/admin/',
  '/admin?x=1',
  '/ADMIN/docs',
  '//admin/x',
  '/%61dmin/x',
  '/%2561dmin/x',
  '/x/../admin/',
  '/x/..%2fadmin',
  '/admin%2ftokens',
  '/\\admin\\x',
  '/admin;a=b/x',
  '/api//v1/Admin/tokens',
  '/api/v1/./admin/tokens',
  '/%zz/../admin/x',
])('the unknown path %s is gated', (url) => {
  expect(isAdminRequest(undefined, url)).toBe(true)
})

test.each([
  '/',
  '/administration',
  '/api/v1/administrators',
  '/api/v1/catalog/admin',
  '/tiles/admin/0/0/0.png',
  '/x?/admin/',
])('the path %s is not gated', (url) => {
  expect(isAdminRequest(undefined, url)).toBe(false)
})
