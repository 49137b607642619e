import { expect, test } from 'vitest'
import { firstReads } from './first-data.js'

const SESSION = '/api/v1/admin/session'

test.each<[string, readonly string[]]>([
  ['/admin/?tab=activity', ['/api/v1/admin/dashboard', '/api/v1/admin/edges', '/api/v1/admin/dashboard/traffic']],
  ['/admin/tokens', ['/api/v1/admin/tokens?limit=25']],
  ['/admin/basemaps/', ['/api/v1/admin/basemaps?limit=25']],
  ['/admin/basemaps/a%20b?tab=usage', ['/api/v1/admin/basemaps/a%20b']],
  [
    '/admin/basemaps/a%20b',
    ['/api/v1/admin/basemaps/a%20b', '/api/v1/admin/audit?limit=1&action=basemap.default-version&subject=a%20b'],
  ],
  ['/admin/basemaps/world/versions/2026-1', ['/api/v1/admin/basemaps/world']],
  ['/admin/vectors/roads', ['/api/v1/admin/vectors/roads']],
  ['/admin/tokens?q=harbour', []],
  ['/admin/there/is/no/such/page', []],
])('the page %s comes with its first data', (url, expected) => {
  expect(firstReads(url)).toEqual([SESSION, ...expected])
})
