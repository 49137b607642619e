import fc from 'fast-check'
import { expect, test } from 'vitest'
import { presentedToken, takesTk } from './presented-token.js'
import { createToken } from './token-format.js'

const A = createToken()
const B = createToken()
const none = { authorization: undefined, xAccessToken: undefined, query: undefined }

test.each([
  ['Authorization: Bearer', { ...none, authorization: `Bearer ${A}` }, false],
  ['a lower-case bearer', { ...none, authorization: `bearer ${A}` }, false],
  ['X-Access-Token', { ...none, xAccessToken: A }, false],
  ['?token', { ...none, query: `token=${A}` }, true],
  ['?access_token among others', { ...none, query: `v=1&access_token=${A}&x=y` }, true],
])('a token is found in %s', (_, from, fromQuery) => {
  expect(presentedToken(from)).toEqual({ ok: true, token: A, fromQuery })
})

test('the same token in all four ways counts as one token', () => {
  const all = { authorization: `Bearer ${A}`, xAccessToken: A, query: `token=${A}&access_token=${A}` }
  expect(presentedToken(all)).toMatchObject({ ok: true, token: A })
})

test.each([
  ['two headers', { ...none, authorization: `Bearer ${A}`, xAccessToken: B }],
  ['header and query', { ...none, xAccessToken: A, query: `token=${B}` }],
  ['two values of one parameter', { ...none, query: `token=${A}&token=${B}` }],
  ['both parameters', { ...none, query: `token=${A}&access_token=${B}` }],
])('different tokens in %s are refused as conflicting', (_, from) => {
  expect(presentedToken(from)).toMatchObject({ ok: false, code: 'conflicting_tokens' })
})

test("a browser's Basic credentials are not a service token and are ignored", () => {
  expect(presentedToken({ ...none, authorization: 'Basic YTpi' })).toMatchObject({ ok: false, code: 'token_missing' })
  expect(presentedToken({ ...none, authorization: 'Basic YTpi', query: `token=${A}` })).toMatchObject({ ok: true })
})

test('a token is found as the password of Basic credentials, whatever the user name', () => {
  const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`
  for (const user of ['', 'qgis', 'bmp_']) {
    expect(presentedToken({ ...none, authorization: basic(`${user}:${A}`) })).toEqual({
      ok: true,
      token: A,
      fromQuery: false,
    })
  }
  expect(presentedToken({ ...none, authorization: basic(`u:${A}`), xAccessToken: B })).toMatchObject({
    code: 'conflicting_tokens',
  })
  expect(presentedToken({ ...none, authorization: basic('u:bmp_wrong') })).toMatchObject({ code: 'token_malformed' })
  expect(presentedToken({ ...none, authorization: basic(A) })).toMatchObject({ code: 'token_missing' })
})

test('an empty value is not a token', () => {
  expect(presentedToken({ ...none, query: 'token=' })).toMatchObject({ ok: false, code: 'token_missing' })
  expect(presentedToken({ ...none, xAccessToken: '' })).toMatchObject({ ok: false, code: 'token_missing' })
})

test('a mistyped token is refused only by its form', () => {
  expect(presentedToken({ ...none, xAccessToken: `${A.slice(0, -1)}-` })).toMatchObject({ code: 'token_malformed' })
})

test('tk carries a token only on the paths of Tianditu, its name in any case', () => {
  expect([takesTk('/tianditu/img_w/wmts'), takesTk('/tiles/tianditu/0/0/0.png')]).toEqual([true, false])
  for (const name of ['tk', 'TK', 'Tk']) {
    const from = { ...none, query: `SERVICE=WMTS&${name}=${A}` }
    expect(presentedToken({ ...from, takesTk: true })).toEqual({ ok: true, token: A, fromQuery: true })
    expect(presentedToken(from)).toMatchObject({ code: 'token_missing' })
  }
})

test.each([
  ['tk and token', { query: `tk=${A}&token=${B}` }],
  ['tk and access_token', { query: `access_token=${B}&tk=${A}` }],
  ['two values of tk', { query: `tk=${A}&TK=${B}` }],
  ['tk and a header', { query: `tk=${A}`, xAccessToken: B }],
])('different tokens in %s are refused as conflicting', (_, from) => {
  expect(presentedToken({ ...none, ...from, takesTk: true })).toMatchObject({ code: 'conflicting_tokens' })
})

test('the same token as tk and token is one token, and an empty tk is ignored', () => {
  expect(presentedToken({ ...none, query: `tk=${A}&token=${A}`, takesTk: true })).toMatchObject({ ok: true })
  expect(presentedToken({ ...none, query: 'tk=', takesTk: true })).toMatchObject({ code: 'token_missing' })
})

test('a query without encoding gives the same result as an encoded one', () => {
  const tokens = [createToken(), createToken()]
  const one = fc.oneof(
    ...tokens.map((token) => fc.constantFrom(`token=${token}`, `access_token=${token}`, `?token=${token}`)),
    fc.constantFrom('v=3', 'token=', 'token', 'token=x', 'mytoken=1', '', '?v=1', 'v=token=x', '=token', 'token==x'),
  )
  const queries = fc.array(one, { maxLength: 4 }).map((parts) => parts.join('&'))
  fc.assert(
    fc.property(queries, (query) => {
      expect(presentedToken({ ...none, query })).toEqual(presentedToken({ ...none, query: `${query}&a=%20` }))
    }),
  )
})
