import { expect, test } from 'vitest'
import { redactTokens } from './redact.js'
import { createToken } from './token-format.js'

test('a token is cut to its prefix wherever it stands', () => {
  const token = createToken()
  const text = redactTokens(`{"url":"/tiles/a/0/0/0.png?token=${token}&x=1","auth":"Bearer ${token}"}`)
  expect(text).not.toContain(token)
  expect(text).toContain(token.slice(0, 12))
  expect(JSON.parse(text)).toMatchObject({ url: expect.stringContaining('&x=1') })
})

test('a token parameter is cut whatever its value is', () => {
  expect(redactTokens('/x?access_token=averylongsecretvalue')).toBe('/x?access_token=averylongsec…')
})
