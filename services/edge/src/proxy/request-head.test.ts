import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { headersForClient, type RawHead, rebuildHead } from './request-head.js'

function head(more: Partial<RawHead> = {}): RawHead {
  return { method: 'GET', path: '/api/v1/system', query: undefined, headers: [['host', 'localhost']], ...more }
}

const statusOf = (raw: RawHead) => {
  const rebuilt = rebuildHead(raw)
  return rebuilt.ok ? 'ok' : rebuilt.code
}

test('path and query are forwarded unchanged, not normalised', () => {
  expect(rebuildHead(head({ path: '/api/../x/%2e%2e//y', query: 'a=%20&b' }))).toMatchObject({
    ok: true,
    target: '/api/../x/%2e%2e//y?a=%20&b',
  })
  expect(rebuildHead(head({ query: '' }))).toMatchObject({ target: '/api/v1/system?' })
})

test('characters beyond ASCII are percent-encoded', () => {
  expect(rebuildHead(head({ path: '/ä' }))).toMatchObject({ target: '/%C3%A4' })
})

test.each(['*', 'http://elsewhere/x', 'x', '', '/a b', '/a\u0000b', '/\ud800'])('the target %j is refused', (path) => {
  expect(statusOf(head({ path }))).toBe('invalid_parameters')
})

test.each(['TRACE', 'CONNECT', 'get', 'FOO', ''])(
  'the method %j is forwarded as one that no path accepts',
  (method) => {
    expect(rebuildHead(head({ method }))).toMatchObject({ ok: true, method: 'TRACE' })
  },
)

describe('framing', () => {
  const with_ = (...headers: [string, string][]) =>
    statusOf(head({ method: 'POST', headers: [['host', 'a'], ...headers] }))

  test('uses one length or chunks', () => {
    expect(with_(['content-length', '12'])).toBe('ok')
    expect(with_(['transfer-encoding', 'chunked'])).toBe('ok')
    expect(with_(['transfer-encoding', 'Chunked'])).toBe('ok')
  })

  test('in several ways, or in another one, is refused', () => {
    expect(with_(['content-length', '1'], ['transfer-encoding', 'chunked'])).toBe('invalid_parameters')
    expect(with_(['content-length', '1'], ['content-length', '1'])).toBe('invalid_parameters')
    expect(with_(['transfer-encoding', 'chunked'], ['transfer-encoding', 'chunked'])).toBe('invalid_parameters')
    expect(with_(['transfer-encoding', 'gzip, chunked'])).toBe('invalid_parameters')
    for (const length of ['-1', '+1', '1,1', '0x1', '1e3', '', ' ', '9'.repeat(16)]) {
      expect(with_(['content-length', length]), length).toBe('invalid_parameters')
    }
    expect(with_(['host', 'b'])).toBe('invalid_parameters')
  })
})

test('headers of the connection and proofs of the edge are not forwarded', () => {
  const forbidden = [
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'upgrade',
    'expect',
    'proxy-connection',
    'proxy-authorization',
  ]
  const own = ['x-edge-key', 'x-edge-peer', 'content-length', 'transfer-encoding']
  fc.assert(
    fc.property(fc.constantFrom(...forbidden, ...own.slice(0, 2)), fc.string(), (name, value) => {
      const rebuilt = rebuildHead(
        head({
          headers: [
            ['host', 'a'],
            [name, value],
          ],
        }),
      )
      expect(rebuilt).toMatchObject({ ok: true, headers: ['host', 'a'] })
    }),
  )
})

test('the headers by which the control plane judges the caller are forwarded unchanged', () => {
  const headers: [string, string][] = [
    ['host', 'example.org'],
    ['x-forwarded-for', '1.2.3.4'],
    ['x-forwarded-for', '5.6.7.8'],
    ['forwarded', 'for=1.2.3.4'],
    ['x-envoy-external-address', '1.2.3.4'],
    ['fastly-client-ip', '1.2.3.4'],
    ['cdn-loop', 'a.example'],
    ['origin', 'https://elsewhere'],
    ['sec-fetch-site', 'cross-site'],
    ['authorization', 'Basic dTpw'],
  ]
  expect(rebuildHead(head({ headers }))).toMatchObject({ headers: headers.flat() })
})

test('a value that could break out of its line is refused', () => {
  for (const value of ['a\r\nx-edge-key: b', 'a\nb', 'a\u0000', 'ā']) {
    expect(statusOf(head({ headers: [['user-agent', value]] })), value).toBe('invalid_parameters')
  }
})

test('a response is returned without the headers of the connection', () => {
  const answer = {
    connection: 'keep-alive',
    'keep-alive': 'timeout=72',
    'transfer-encoding': 'chunked',
    'content-length': '3',
    date: 'now',
    'content-type': 'text/plain',
    'set-cookie': ['a=1', 'b=2'],
    'x-refusal': 'not_found',
  }
  const lines = headersForClient(answer, '/api/v1/catalog/basemaps')
  expect(lines).toEqual([
    ['content-type', 'text/plain'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ])
  expect(headersForClient(answer, '/api/v1/admin/tokens')).toContainEqual(['x-refusal', 'not_found'])
})
