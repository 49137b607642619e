import { expect, test } from 'vitest'
import { preferencesOf } from './page-preferences.js'

test.each([
  [{}, 'en', null],
  [{ 'accept-language': 'fr-CH, zh-CN;q=0.8, en;q=0.5' }, 'zh', null],
  [{ 'accept-language': 'en-GB, zh;q=0.5' }, 'en', null],
  [{ 'accept-language': 'en', cookie: 'a=b; gateway_language=zh; gateway_scheme=dark' }, 'zh', 'dark'],
  [{ 'accept-language': 'zh', cookie: 'gateway_language=en;gateway_scheme=auto' }, 'en', null],
  [{ cookie: 'gateway_language=<b>; x_gateway_language=zh; gateway_scheme=blue' }, 'en', null],
])('a page for %j is in %s with the colours %s', (headers, language, scheme) => {
  expect(preferencesOf(headers)).toEqual({ language, scheme })
})
