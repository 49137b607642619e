import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Provider } from './provider.js'

const CLIENT_ID = 'gateway'
const KEY_ID = 'key'
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const strange = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** A provider that signs ID tokens with `signer`, and whose claims may be replaced. */
const idp = { signer: keys.privateKey, claims: {} as Record<string, unknown>, nonce: '', challenge: '' }
let server: Server
let issuer: string

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const send = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (request.url === '/token') {
      const verifier = new URLSearchParams(await text(request)).get('code_verifier') ?? ''
      const isRight = createHash('sha256').update(verifier).digest('base64url') === idp.challenge
      if (!isRight) return void response.writeHead(400).end()
      return send({ access_token: 'access', token_type: 'Bearer', id_token: idToken() })
    }
    if (request.url === '/jwks') {
      const jwk = keys.publicKey.export({ format: 'jwk' })
      return send({ keys: [{ ...jwk, kid: KEY_ID, alg: 'RS256', use: 'sig' }] })
    }
    return send({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      code_challenge_methods_supported: ['S256'],
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

function idToken(): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: CLIENT_ID, sub: 'anna', nonce: idp.nonce, iat: now, exp: now + 60, ...idp.claims }
  const signed = [{ alg: 'RS256', kid: KEY_ID }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), idp.signer).toString('base64url')}`
}

/** Signs in with the given signer and claims, and returns the claims that the gateway accepts. */
async function signIn(signer: KeyObject, claims: Record<string, unknown> = {}) {
  const provider = new Provider({
    oidcIssuer: issuer,
    oidcClientId: CLIENT_ID,
    oidcClientSecret: null,
    oidcRoleClaim: 'groups',
    apiBaseUrl: 'http://127.0.0.1:8910',
  })
  const { url, transaction } = await provider.begin()
  Object.assign(idp, { signer, claims, nonce: transaction.nonce, challenge: url.searchParams.get('code_challenge') })
  return provider.finish(`code=one&state=${transaction.state}&iss=${encodeURIComponent(issuer)}`, transaction)
}

test('an ID token that the provider signed is accepted', async () => {
  expect(await signIn(keys.privateKey, { groups: ['gis'] })).toMatchObject({ sub: 'anna', groups: ['gis'] })
})

test('an ID token that another key signed is refused, although it comes from the token address', async () => {
  await expect(signIn(strange.privateKey)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('signature') },
  })
})

test.each([
  ['another nonce', { nonce: 'other' }],
  ['another client', { aud: 'other' }],
  ['another issuer', { iss: 'https://id.example.com' }],
  ['a time long ago', { exp: 1 }],
])('an ID token for %s is refused', async (_, claims) => {
  await expect(signIn(keys.privateKey, claims)).rejects.toThrow()
})
