import { expect, test } from 'vitest'
import { signingKey, signText, webhookHeaders } from '../../platform/webhooks/signature.js'
import { admitImport, isSignedBody } from './credential.js'

const TOKEN = 'a token of the import'
const NOW = 1_800_000_000_000
const STAMP = { id: 'msg_1', timestamp: NOW / 1000 }

function signed(secret: string, body: string, stamp = STAMP): Record<string, string> {
  const key = signingKey(secret) as Buffer
  return { ...webhookHeaders(stamp, signText(key, stamp, body)), 'webhook-proof': signText(key, stamp, '') }
}

test('the token as bearer admits any body', () => {
  const verdict = admitImport({ authorization: `Bearer ${TOKEN}` }, TOKEN, NOW)
  expect(verdict).toMatchObject({ ok: true, hmac: null })
  expect(verdict.ok && isSignedBody(verdict)).toBe(true)
})

test('a signature with the token as secret admits only the signed body', () => {
  for (const body of ['right', 'wrong']) {
    const verdict = admitImport(signed(TOKEN, 'right'), TOKEN, NOW)
    if (!verdict.ok) throw new Error(verdict.message)
    verdict.hmac?.update(body)
    expect(isSignedBody(verdict)).toBe(body === 'right')
  }
})

test('a secret in the form of Standard Webhooks can be the token', () => {
  const token = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  expect(admitImport(signed(token, ''), token, NOW)).toMatchObject({ ok: true })
})

test('a token in base64 without a prefix is the secret of a sender of any version', () => {
  const token = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  expect(admitImport(signed(token, ''), token, NOW)).toMatchObject({ ok: true })
  expect(admitImport(signed(`whsec_${token}`, ''), token, NOW)).toMatchObject({ ok: true })
})

test.each([
  ['nothing', {}],
  ['another token', { authorization: 'Bearer another' }],
  ['the token under another scheme', { authorization: `Basic ${TOKEN}` }],
  ['another secret', signed('another', '')],
  ['no proof', { ...signed(TOKEN, ''), 'webhook-proof': '' }],
  ['a proof for another id', { ...signed(TOKEN, ''), 'webhook-id': 'msg_2' }],
  ['a proof for another time', { ...signed(TOKEN, ''), 'webhook-timestamp': String(STAMP.timestamp + 1) }],
  ['a time that is none', { ...signed(TOKEN, ''), 'webhook-timestamp': 'now' }],
  ['a recording', signed(TOKEN, '', { ...STAMP, timestamp: STAMP.timestamp - 301 })],
  ['a message from the future', signed(TOKEN, '', { ...STAMP, timestamp: STAMP.timestamp + 301 })],
])('%s is refused before the body is read', (_name, headers: Record<string, string>) => {
  expect(admitImport(headers, TOKEN, NOW)).toMatchObject({ ok: false })
})
