import { expect, test } from 'vitest'
import { challenge, checkCredentials } from './credentials.js'

const BOTH = { adminUser: 'admin', adminPassword: 'pass:word é', adminToken: 'the-token', oidcIssuer: null }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('Basic makes the user the actor, Bearer makes it "token"', () => {
  expect(checkCredentials(basic('admin:pass:word é'), BOTH)).toEqual({ ok: true, actor: 'admin', by: 'basic' })
  expect(checkCredentials('bearer  the-token', BOTH)).toEqual({ ok: true, actor: 'token', by: 'bearer' })
})

test.each([
  basic('admin:'),
  basic('admin'),
  basic('pass:word é'),
  basic('other:pass:word é'),
  basic('admin:pass:word'),
  'Basic %%%',
  'Bearer the-toke',
  'Bearer the-token2',
  'Bearer admin',
])('%s is wrong', (authorization) => {
  expect(checkCredentials(authorization, BOTH)).toMatchObject({ ok: false, code: 'admin_credentials_wrong' })
})

test.each([undefined, '', 'Digest x', 'the-token'])('%s counts as no credentials, not as a guess', (authorization) => {
  expect(checkCredentials(authorization, BOTH)).toMatchObject({ ok: false, code: 'admin_credentials_missing' })
})

test('an empty password or token never matches missing credentials', () => {
  const none = { adminUser: 'admin', adminPassword: null, adminToken: null, oidcIssuer: null }
  for (const authorization of [basic('admin:'), 'Bearer ', undefined]) {
    expect(checkCredentials(authorization, none)).toMatchObject({ ok: false, code: 'admin_credentials_missing' })
  }
  expect(checkCredentials(basic('admin:'), { ...BOTH, adminPassword: null })).toMatchObject({ ok: false })
})

test('with only a token configured the message names the setting for browsers, and no Basic dialogue opens', () => {
  const tokenOnly = { ...BOTH, adminPassword: null }
  expect(checkCredentials(undefined, tokenOnly)).toMatchObject({ message: expect.stringContaining('ADMIN_PASSWORD') })
  expect(checkCredentials(basic('admin:x'), tokenOnly)).toMatchObject({
    message: expect.stringContaining('ADMIN_PASSWORD'),
  })
  expect(challenge(tokenOnly)).not.toMatch(/Basic/)
  expect(challenge(BOTH)).toMatch(/^Basic realm="[^"]+", charset="UTF-8", Bearer/)
})

test('with sign-in by OpenID Connect the message names every way in, and Basic is offered only if it was tried', () => {
  const signIn = { ...BOTH, oidcIssuer: 'https://id.example.com' }
  expect(checkCredentials(undefined, signIn)).toMatchObject({
    message: expect.stringMatching(/sign in at \/admin\/, or use HTTP Basic, or use ADMIN_TOKEN/),
  })
  expect(challenge(signIn, false)).not.toMatch(/Basic/)
})
