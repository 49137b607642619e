import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import {
  signatureOf,
  signingKey,
  signText,
  standardSecret,
  startSignature,
  webhookHeaders,
  webhookId,
} from './signature.js'

const now = () => Math.floor(Date.now() / 1000)
const secrets = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)

test('the reference implementation of Standard Webhooks accepts a signature with a whsec_ secret', () => {
  fc.assert(
    fc.property(secrets, fc.uuid(), fc.json(), (secret, id, body) => {
      const stamp = { id: webhookId(id), timestamp: now() }
      const headers = webhookHeaders(stamp, signText(signingKey(secret) as Buffer, stamp, body))
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    }),
  )
})

/** Returns a verifier as the reference library makes it of a secret: base64 with or without its prefix, otherwise the text. */
function verifierOf(secret: string): Webhook {
  try {
    return new Webhook(secret)
  } catch {
    return new Webhook(secret, { format: 'raw' })
  }
}

test('the reference implementation accepts a signature with any new secret, with or without whsec_', () => {
  const base64 = fc.uint8Array({ minLength: 3, maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  const text = fc.string({ minLength: 1, unit: 'grapheme-ascii' })
  const word = fc.stringMatching(/^[A-Za-z0-9+/]{1,12}={0,3}$/)
  fc.assert(
    fc.property(fc.oneof(base64, text, word), fc.json(), (secret, body) => {
      fc.pre(!secret.startsWith('whsec_'))
      const stamp = { id: 'msg_1', timestamp: now() }
      const key = signingKey(standardSecret(secret)) as Buffer
      const headers = webhookHeaders(stamp, signText(key, stamp, body))
      verifierOf(secret).verify(body, headers)
    }),
    { examples: ['/A// ', 'MfKQ9r8GKYqrTwjU\n', 'AAAA =', 'AAAA x='].map((secret) => [secret, '{}']) },
  )
})

test('a secret that was stored without the prefix signs as text until it is changed', () => {
  const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const stamp = { id: 'msg_1', timestamp: now() }
  const headers = webhookHeaders(stamp, signText(signingKey(secret) as Buffer, stamp, '{}'))
  new Webhook(secret, { format: 'raw' }).verify('{}', headers)
  expect(standardSecret(standardSecret(secret))).toBe(`whsec_${secret}`)
})

test('the reference implementation refuses another body, another id and another secret', () => {
  const stamp = { id: 'msg_1', timestamp: now() }
  const headers = webhookHeaders(stamp, signText(signingKey('a secret') as Buffer, stamp, '{}'))
  const verifier = new Webhook('a secret', { format: 'raw' })
  expect(() => verifier.verify('{ }', headers)).toThrow()
  expect(() => verifier.verify('{}', { ...headers, 'webhook-id': 'msg_2' })).toThrow()
  expect(() => new Webhook('another', { format: 'raw' }).verify('{}', headers)).toThrow()
})

test('a body signed in parts has the signature of the whole', () => {
  const key = signingKey('s') as Buffer
  const stamp = { id: 'msg_1', timestamp: 1 }
  const parts = startSignature(key, stamp).update('{"a"').update(':1}')
  expect(signatureOf(parts)).toBe(signText(key, stamp, '{"a":1}'))
})

test('a secret that begins like one of Standard Webhooks must be base64', () => {
  expect(signingKey('whsec_')).toBeNull()
  expect(signingKey('whsec_not base64!')).toBeNull()
})

test('without a secret there is no signature header', () => {
  expect(webhookHeaders({ id: 'msg_1', timestamp: 7 }, null)).toEqual({
    'webhook-id': 'msg_1',
    'webhook-timestamp': '7',
  })
})
