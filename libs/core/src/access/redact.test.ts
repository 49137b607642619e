import { expect, test } from 'vitest'
import { redactTokens, removeSecrets } from './redact.js'
import { createToken } from './token-format.js'

test('a token is cut to its prefix at any position', () => {
  const token = createToken()
  const text = redactTokens(`{"url":"/tiles/a/0/0/0.png?token=${token}&x=1","auth":"Bearer ${token}"}`)
  expect(text).not.toContain(token)
  expect(text).toContain(token.slice(0, 12))
  expect(JSON.parse(text)).toMatchObject({ url: expect.stringContaining('&x=1') })
})

test('a token parameter that is not a service token is removed completely, however short it is', () => {
  expect(redactTokens('/x?access_token=averylongsecretvalue&a=1')).toBe('/x?access_token=…&a=1')
  expect(redactTokens('/x?token=secret')).toBe('/x?token=…')
  expect(redactTokens('/tianditu/img_w/wmts?X=1&TK=secret&Y=2')).toBe('/tianditu/img_w/wmts?X=1&TK=…&Y=2')
})

test.each(['/x?%74oken=', '/x?access%5Ftoken=', '/x?a=1&other='])(
  '%s does not hide a token that is percent-encoded',
  (before) => {
    const encoded = createToken().replace('b', '%62').replace('_', '%5f')
    const text = redactTokens(`${before}${encoded}&y=2`)
    expect(text).not.toContain(encoded.slice(20))
    expect(text).toMatch(/&y=2$/)
  },
)

test('other parameters stay unchanged', () => {
  expect(redactTokens('/x?a=averylongordinaryvalue&b=100%25')).toBe('/x?a=averylongordinaryvalue&b=100%25')
})

test('a known secret is removed wherever it is, also its beginning at the end of a text that was cut', () => {
  expect(removeSecrets('key abcdef, abcdef', ['abcdef', ''])).toBe('key [redacted], [redacted]')
  expect(removeSecrets('key abcd', ['abcdef'])).toBe('key [redacted]')
  expect(removeSecrets('key abc', ['abcdef'])).toBe('key abc')
  expect(removeSecrets('longer-secret', ['longer', 'longer-secret'])).toBe('[redacted]')
})
