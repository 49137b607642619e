import { presentedToken } from '@gateway/core/access/presented-token.js'
import { createToken } from '@gateway/core/access/token-format.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quickToken } from './quick-token.js'

const tokens = [createToken(), createToken()]
const token = fc.constantFrom(...tokens)
const authorization = fc.oneof(
  fc.constant(''),
  token.map((t) => `Bearer ${t}`),
  fc.constant('Basic dTpw'),
  fc.constant('Bearer nonsense'),
)
const header = fc.oneof(fc.constant(''), token)
const query = fc.oneof(
  fc.constant(''),
  token.map((t) => `token=${t}`),
  token.map((t) => `access_token=${t}`),
  fc.tuple(token, token).map(([a, b]) => `token=${a}&access_token=${b}`),
  token.map((t) => `style=x&token=${t}`),
  fc.constant('style=x'),
  // Any mixture of what may stand in a query, encoded, repeated, empty and out of place.
  fc
    .array(
      fc.oneof(
        token.map((t) => `token=${t}`),
        token.map((t) => `access_token=${t}`),
        fc.constantFrom(
          'v=3',
          'token=',
          'token',
          'token=x',
          '%74oken=x',
          'a+b=1',
          'mytoken=1',
          '',
          '?v=1',
          'v=token=%2b',
          '=token',
        ),
        token.map((t) => `%74oken=${t}`),
        token.map((t) => `?token=${t}`),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join('&')),
)

test('whatever the quick look finds is what the careful look finds', () => {
  fc.assert(
    fc.property(authorization, header, query, (auth, x, q) => {
      const quick = quickToken(auth, x, q)
      if (!tokens.includes(quick)) return
      const careful = presentedToken({ authorization: auth, xAccessToken: x, query: q })
      expect(careful.ok && careful.token).toBe(quick)
    }),
  )
})

test('the four plain forms are found at once', () => {
  const [one] = tokens as [string]
  expect(quickToken(`Bearer ${one}`, '', '')).toBe(one)
  expect(quickToken('', one, '')).toBe(one)
  expect(quickToken('', '', `token=${one}`)).toBe(one)
  expect(quickToken('', '', `access_token=${one}`)).toBe(one)
  for (const query of [`v=3&token=${one}`, `token=${one}&v=3`, `v=3&access_token=${one}&mytoken=1&`]) {
    expect(quickToken('', '', query)).toBe(one)
  }
  expect(quickToken('', one, 'v=3')).toBe(one)
  expect(quickToken(`Bearer ${one}`, '', 'v=3')).toBe(one)
})
