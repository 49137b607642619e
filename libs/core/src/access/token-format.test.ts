import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createToken, isTokenWellFormed, TOKEN_LENGTH, tokenDigest, tokenPrefix } from './token-format.js'

test('a new token has the fixed form and a correct checksum', () => {
  const token = createToken()
  expect(token).toMatch(/^bmp_[0-9A-Za-z]{38}$/)
  expect(token).toHaveLength(TOKEN_LENGTH)
  expect(isTokenWellFormed(token)).toBe(true)
})

test('two tokens differ', () => {
  expect(createToken()).not.toBe(createToken())
})

test('the checksum detects any single mistyped character', () => {
  const token = createToken()
  fc.assert(
    fc.property(fc.integer({ min: 4, max: token.length - 1 }), fc.constantFrom(...'0aZ9xQ_-'), (at, other) => {
      fc.pre(token[at] !== other)
      expect(isTokenWellFormed(token.slice(0, at) + other + token.slice(at + 1))).toBe(false)
    }),
  )
})

test('no other text counts as a token', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      expect(isTokenWellFormed(text)).toBe(false)
    }),
  )
})

test('a token of the lowest and of the highest digits keeps its length', () => {
  expect(isTokenWellFormed(createToken(() => 0))).toBe(true)
  expect(isTokenWellFormed(createToken((n) => n - 1))).toBe(true)
})

test('the digest is SHA-256 and the prefix has 12 characters', () => {
  const token = createToken()
  expect(tokenDigest(token)).toHaveLength(32)
  expect(tokenPrefix(token)).toBe(token.slice(0, 12))
})
