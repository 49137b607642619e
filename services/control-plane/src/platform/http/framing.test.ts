import { expect, test } from 'vitest'
import { ambiguousFraming } from './framing.js'

const plain = { url: '/x', headers: { host: 'a' }, rawHeaders: ['Host', 'a'], httpVersion: '1.1' }

test('a plain request and a chunked one are accepted', () => {
  expect(ambiguousFraming(plain)).toBeNull()
  expect(ambiguousFraming({ ...plain, headers: { 'transfer-encoding': 'Chunked' } })).toBeNull()
})

test('HTTP/1.0 needs no Host', () => {
  expect(ambiguousFraming({ ...plain, rawHeaders: [], httpVersion: '1.0' })).toBeNull()
})

test.each([
  ['another coding before chunked', { ...plain, headers: { 'transfer-encoding': 'gzip, chunked' } }],
  ['two transfer codings', { ...plain, headers: { 'transfer-encoding': 'chunked, chunked' } }],
  ['a length beside chunked', { ...plain, headers: { 'transfer-encoding': 'chunked', 'content-length': '3' } }],
  ['two hosts', { ...plain, rawHeaders: ['Host', 'a', 'hOst', 'a'] }],
  ['no host', { ...plain, rawHeaders: [] }],
  ['an address with a host', { ...plain, url: 'http://evil.example/api/v1/admin/tokens' }],
])('%s is refused', (_, request) => {
  expect(ambiguousFraming(request)).toMatchObject({ code: 'invalid_parameters' })
})
