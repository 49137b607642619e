import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyAddress } from './address-class.js'
import type { Resolve } from './resolve.js'
import { LOOPBACK, NEVER } from './testing/forbidden.js'
import { guardWith, OPEN_SERVICE } from './testing/guards.js'

const names = (table: Record<string, readonly string[]>): Resolve => {
  return async (host) => {
    const addresses = table[host] ?? [host]
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}
const PUBLIC = '93.184.215.14'

describe('never, not even for a service on loopback that allows everything', () => {
  const guard = guardWith({ callbackAllow: ['0.0.0.0/0', '::/0'] })
  test.each(NEVER)('%s', async (host) => {
    // Refused by its text, before any name server is queried.
    expect(guard.problemOf(`http://${host}/`)).not.toBeNull()
    expect(await guard.admit(`http://${host}/`)).toMatchObject({ ok: false })
  })
})

test.each([
  ['169.254.1.1', 'a link-local address is never a destination'],
  ['0.0.0.0', 'an unspecified address is never a destination'],
  ['224.0.0.1', 'a multicast address is never a destination'],
  ['64:ff9b::7f00:1', 'a loopback address behind NAT64 is never a destination'],
])('the refusal of %s names the kind of the address', (host, problem) => {
  expect(guardWith().problemOf(`http://${host.includes(':') ? `[${host}]` : host}/`)).toBe(problem)
})

describe('this machine, while the service listens for others', () => {
  const guard = guardWith(OPEN_SERVICE)
  test.each(LOOPBACK)('%s', async (host) => {
    expect(await guard.admit(`http://${host}/`)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('loopback'),
    })
  })
})

test('this machine is allowed if the service itself listens on loopback, or if the allow list names loopback', async () => {
  for (const host of LOOPBACK) expect(await guardWith().admit(`http://${host}/`), host).toMatchObject({ ok: true })
  for (const entry of ['127.0.0.1', '127.0.0.0/8', 'localhost']) {
    const guard = guardWith({ ...OPEN_SERVICE, callbackAllow: [entry] })
    expect(await guard.admit(`http://${entry === 'localhost' ? entry : '127.0.0.1'}/`)).toMatchObject({ ok: true })
  }
  const wide = guardWith({ ...OPEN_SERVICE, callbackAllow: ['0.0.0.0/0'] })
  expect(await wide.admit('http://127.0.0.1/')).toMatchObject({ ok: false })
})

test.each([
  ['a proxy is trusted', { trustedProxies: ['127.0.0.1'] }],
  ['API_BASE_URL names another host', { apiBaseUrl: 'https://maps.example.org' }],
  ['TILE_PUBLIC_BASE_URL names another host', { tilePublicBaseUrl: 'http://192.168.1.5:8910/maps' }],
  ['VECTOR_PUBLIC_BASE_URL names another host', { vectorPublicBaseUrl: 'http://[fd00::1]' }],
])(
  'a service on loopback whose callers are elsewhere, as %s, sends to loopback only by CALLBACK_ALLOW',
  async (_, settings) => {
    for (const host of LOOPBACK) {
      const reason = expect.stringContaining('CALLBACK_ALLOW')
      expect(await guardWith(settings).admit(`http://${host}/`), host).toMatchObject({ ok: false, reason })
    }
    const allowed = guardWith({ ...settings, callbackAllow: ['127.0.0.1'] })
    expect(await allowed.admit('http://127.0.0.1/')).toMatchObject({ ok: true })
  },
)

test('refusals of public URLs that resolve to loopback, in any form, reveal nothing', async () => {
  for (const apiBaseUrl of [
    'http://localhost:8910',
    'http://[::1]:8910',
    'http://gateway.localhost',
    'http://127.0.0.2',
  ]) {
    expect(await guardWith({ apiBaseUrl }).admit('http://127.0.0.1/'), apiBaseUrl).toMatchObject({ ok: true })
  }
})

test('loopback is refused if only one of the two processes listens on loopback', async () => {
  const guard = guardWith({ controlHost: '0.0.0.0' })
  expect(await guard.admit('http://127.0.0.1/')).toMatchObject({ ok: false })
})

test('public and private receivers are allowed, by name and by address, at the checked addresses', async () => {
  const guard = guardWith(OPEN_SERVICE, names({ 'receiver.example': [PUBLIC, '2606:2800:21f::1'] }))
  const private4 = ['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', '192.0.2.2', '203.0.113.9']
  const hosts = [...private4, '[fd12::1]', '[2001:db8::1]', PUBLIC, '[2606:2800:21f::1]']
  for (const host of hosts) expect(await guard.admit(`http://${host}:8080/x`), host).toMatchObject({ ok: true })
  expect(await guard.admit('https://receiver.example/x')).toEqual({
    ok: true,
    addresses: [
      { address: PUBLIC, family: 4 },
      { address: '2606:2800:21f::1', family: 6 },
    ],
  })
})

test('a public address behind NAT64 is allowed, as on networks without IPv4', async () => {
  expect(await guardWith(OPEN_SERVICE).admit('http://[64:ff9b::5db8:d70e]/')).toMatchObject({ ok: true })
})

test('one forbidden address among many forbids the name', async () => {
  const guard = guardWith({}, names({ 'mixed.example': [PUBLIC, '169.254.169.254'] }))
  expect(await guard.admit('http://mixed.example/')).toMatchObject({ ok: false })
})

test('only http and https are allowed, without credentials in the URL', async () => {
  const wrong = ['ftp://h/', 'file:///etc/passwd', 'gopher://h/', 'javascript:0', 'unix:/x', 'not an address', '']
  for (const url of [...wrong, 'http://user:pass@h/', 'http://user@h/', 'http://:pass@h/']) {
    expect(await guardWith().admit(url), url).toMatchObject({ ok: false })
  }
})

test('the deny list forbids hosts, domains and ranges, whatever form the URL has', async () => {
  const guard = guardWith(
    { callbackDeny: ['bad.example', '*.worse.example', '10.0.0.0/8', 'fd00::/8'] },
    names({
      'inner.example': ['10.9.9.9'],
      'bad.example': [PUBLIC],
      'a.worse.example': [PUBLIC],
      'fine.example': [PUBLIC],
    }),
  )
  const refused = [
    'bad.example',
    'BAD.example.',
    'a.worse.example',
    'inner.example',
    '10.0.0.1',
    '[::ffff:10.0.0.1]',
    '167772161',
  ]
  for (const host of [...refused, '[fd00::1]']) {
    expect(await guard.admit(`http://${host}/`), host).toMatchObject({ ok: false })
  }
  for (const host of ['fine.example', '11.0.0.1'])
    expect(await guard.admit(`http://${host}/`)).toMatchObject({ ok: true })
})

test('an allow list restricts to its entries, by name or by address, and the deny list still applies', async () => {
  const guard = guardWith(
    { callbackAllow: ['good.example', '*.team.example', '10.0.0.0/8'], callbackDeny: ['10.6.6.0/24'] },
    names({ 'good.example': [PUBLIC], 'x.team.example': [PUBLIC], 'other.example': [PUBLIC] }),
  )
  for (const host of ['good.example', 'x.team.example', '10.1.1.1']) {
    expect(await guard.admit(`http://${host}/`), host).toMatchObject({ ok: true })
  }
  for (const host of ['other.example', 'team.example', PUBLIC, '10.6.6.6', '192.168.0.1']) {
    expect(await guard.admit(`http://${host}/`), host).toMatchObject({ ok: false })
  }
})

describe('the service itself is never allowed:', () => {
  const lan = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((own) => own.family === 'IPv4' && !own.internal)?.address
  const resolve = names({ 'db.internal': ['10.0.0.5'], 'alias.example': ['10.0.0.5'], localhost: ['127.0.0.1'] })

  test('its store, by any of its names', async () => {
    const guard = guardWith({ databaseUrl: 'postgres://u:p@db.internal/gateway' }, resolve)
    for (const host of ['db.internal', 'DB.internal', 'alias.example', '10.0.0.5', '[::ffff:10.0.0.5]']) {
      expect(await guard.admit(`http://${host}:5432/`), host).toMatchObject({
        ok: false,
        reason: expect.stringContaining('store'),
      })
    }
    expect(await guard.admit('http://10.0.0.5:5433/')).toMatchObject({ ok: true })
  })

  test('its bus', async () => {
    const guard = guardWith({ redisUrl: 'redis://10.0.0.5' }, resolve)
    expect(await guard.admit('http://alias.example:6379/')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('bus'),
    })
  })

  test('its own listeners, by any address of this machine', async () => {
    const guard = guardWith({}, resolve)
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '[::1]']) {
      expect(await guard.admit(`http://${host}:8911/`), host).toMatchObject({
        ok: false,
        reason: expect.stringContaining('service'),
      })
      expect(await guard.admit(`http://${host}:15432/`), host).toMatchObject({
        ok: false,
        reason: expect.stringContaining('store'),
      })
    }
    if (lan !== undefined) expect(await guard.admit(`http://${lan}:15432/`), lan).toMatchObject({ ok: false })
    expect(await guard.admit('http://10.0.0.5:8911/')).toMatchObject({ ok: true })
  })
})

test('an IPv4 address gets the same result in its IPv4-mapped form', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(classifyAddress(`::ffff:${address}`)).toEqual(classifyAddress(address))
    }),
  )
})

test('an IPv4-compatible address gets the same result with dots, as look-ups return it, and without', () => {
  const bytes = fc.tuple(fc.integer({ min: 1, max: 255 }), fc.nat(255), fc.nat(255), fc.nat(255))
  fc.assert(
    fc.property(bytes, (four) => {
      const hex = Buffer.from(four).toString('hex')
      const judged = classifyAddress(`::${four.join('.')}`)
      expect(judged).toEqual(classifyAddress(`::${hex.slice(0, 4)}:${hex.slice(4)}`))
      expect(judged.kind).toBe('never')
    }),
  )
})
