import { expect, test } from 'vitest'
import { ambiguousFraming, pathOfTarget } from './framing.js'

const plain = { url: '/x', headers: { host: 'a' }, rawHeaders: ['Host', 'a'], httpVersion: '1.1' }

test('a plain request and a chunked one are accepted', () => {
  expect(ambiguousFraming(plain)).toBeNull()
  expect(ambiguousFraming({ ...plain, headers: { 'transfer-encoding': 'Chunked' } })).toBeNull()
})

test('HTTP/1.0 needs no Host', () => {
  expect(ambiguousFraming({ ...plain, rawHeaders: [], httpVersion: '1.0' })).toBeNull()
})

test('a target that names its host is its path, and its host overrides the field', () => {
  for (const [url, path, host] of [
    ['http://other:81/a?b=c', '/a?b=c', 'other:81'],
    ['HTTP://[::1]:8911/a', '/a', '[::1]:8911'],
    ['http://other?b', '/?b', 'other'],
    ['http://other', '/', 'other'],
    ['http://user@other/a', 'http://user@other/a', 'a'],
    ['http:///a', 'http:///a', 'a'],
    ['/http://other/a', '/http://other/a', 'a'],
  ] as const) {
    const headers = { host: 'a' }
    expect([pathOfTarget({ url, headers }), headers.host], url).toEqual([path, host])
  }
})

test('another version of HTTP is refused', () => {
  expect(ambiguousFraming({ ...plain, httpVersion: '2.0' })).toMatchObject({ code: 'version_not_supported' })
})

test.each([
  ['another coding before chunked', { ...plain, headers: { 'transfer-encoding': 'gzip, chunked' } }],
  ['two transfer codings', { ...plain, headers: { 'transfer-encoding': 'chunked, chunked' } }],
  ['a length beside chunked', { ...plain, headers: { 'transfer-encoding': 'chunked', 'content-length': '3' } }],
  ['two hosts', { ...plain, rawHeaders: ['Host', 'a', 'hOst', 'a'] }],
  ['no host', { ...plain, rawHeaders: [] }],
  ['an address of another scheme', { ...plain, url: 'ftp://a/api/v1/admin/tokens' }],
])('%s is refused', (_, request) => {
  expect(ambiguousFraming(request)).toMatchObject({ code: 'invalid_parameters' })
})
