import { expect, test } from 'vitest'
import { isCrossSite } from './cross-site.js'

const BASE = 'https://maps.example'
const request = { method: 'POST', host: '127.0.0.1:8910', origin: undefined, secFetchSite: undefined }

test('a client that is not a browser passes', () => {
  expect(isCrossSite(request, BASE)).toBe(false)
})

test.each(['GET', 'HEAD', 'OPTIONS'])('%s changes nothing and passes from anywhere', (method) => {
  expect(isCrossSite({ ...request, method, origin: 'https://evil.example', secFetchSite: 'cross-site' }, BASE)).toBe(
    false,
  )
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s from a foreign page is refused', (method) => {
  expect(isCrossSite({ ...request, method, secFetchSite: 'cross-site' }, BASE)).toBe(true)
  expect(isCrossSite({ ...request, method, origin: 'https://evil.example' }, BASE)).toBe(true)
})

test.each([
  ['http://127.0.0.1:8910', '127.0.0.1:8910'],
  ['https://maps.example', '127.0.0.1:8911'],
  ['https://gateway.example', 'gateway.example'],
  ['https://gateway.example', 'gateway.example:443'],
  ['http://gateway.example', 'gateway.example:80'],
])('a page of origin %s may change data that it reached at %s', (origin, host) => {
  expect(isCrossSite({ ...request, origin, host, secFetchSite: 'same-origin' }, BASE)).toBe(false)
})

test.each([
  ['null', 'gateway.example'],
  ['https://sub.gateway.example', 'gateway.example'],
  ['https://gateway.example:8443', 'gateway.example'],
  ['http://maps.example', '127.0.0.1:8910'],
  ['not an origin', 'gateway.example'],
  ['https://gateway.example', undefined],
])('a page of origin %s may not change data that it reached at %s', (origin, host) => {
  expect(isCrossSite({ ...request, origin, host }, BASE)).toBe(true)
})

test('a subdomain is foreign although it belongs to the same site', () => {
  expect(isCrossSite({ ...request, secFetchSite: 'same-site' }, BASE)).toBe(true)
})
