import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import { expect, test } from 'vitest'
import { securedAddress } from './tls-options.js'

const PLAIN = 'postgres://u:p@db.example:5432/gateway'
/** A certificate for the IP address ::1 (`openssl req -x509 -addext subjectAltName=IP:::1`). */
const { raw } = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBizCCATKgAwIBAgIUbD7gPv7eODVpIIexcn4ciUWGSBcwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAgFw0yNjExMjIxOTU4NTdaGA8yMTI2MTAyOTE5NTg1N1ow
DDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPREj6u8NFpc
YMTNvr8CyCN9FgiApdx2a4jEBk94uVGlPBX+jvcOrjl5z1fGMwBTu3EP4v6FHjiT
I/hfQcSxPSejcDBuMB0GA1UdDgQWBBQAGCSkoBgk+KrV2jLDo5bgtznH9jAfBgNV
HSMEGDAWgBQAGCSkoBgk+KrV2jLDo5bgtznH9jAPBgNVHRMBAf8EBTADAQH/MBsG
A1UdEQQUMBKHEAAAAAAAAAAAAAAAAAAAAAEwCgYIKoZIzj0EAwIDRwAwRAIgLUlc
gS2EaLkFGXMucALCnJ+qizdO6B9aHifXV6MG3VYCIHqnLllZDF68JBKblhXUJVY8
sW6DqBjvHBc0HRr38JuG
-----END CERTIFICATE-----`)
const certificateOf = (subjectaltname: string) => ({ subject: { CN: 'x' }, subjectaltname, raw }) as PeerCertificate

test.each(['', '?sslmode=require', '?sslmode=disable', '?target_session_attrs=read-write'])(
  'an address with %j is left to the client',
  (query) => {
    expect(securedAddress(PLAIN + query)).toEqual({ url: PLAIN + query, ssl: undefined })
  },
)

test('verification options are not sent to the server, and the other options are', () => {
  const { url, ssl } = securedAddress(`${PLAIN}?sslmode=verify-full&target_session_attrs=read-write&sslrootcert=system`)
  expect(url).toBe(`${PLAIN}?target_session_attrs=read-write`)
  expect(ssl).toMatchObject({ rejectUnauthorized: true })
  expect(
    securedAddress(`${PLAIN}?sslmode=verify-ca`).ssl?.checkServerIdentity?.('x', certificateOf('')),
  ).toBeUndefined()
})

test.each([
  ['db.example', 'db.example', 'DNS:db.example', true],
  ['db.example', 'db.example', 'DNS:other.example', false],
  ['a.example:1,b.example:2', 'b.example', 'DNS:b.example', true],
  ['a.example:1,b.example:2', 'b.example', 'DNS:a.example', false],
  ['10.0.0.1', 'localhost', 'IP Address:10.0.0.1', true],
  ['10.0.0.1', 'localhost', 'DNS:localhost', false],
  ['[::1]:5432', 'localhost', 'IP Address:0:0:0:0:0:0:0:1', true],
  ['[::2]:5432', 'localhost', 'IP Address:0:0:0:0:0:0:0:1', false],
])('for %s, which the client calls %s, a certificate for %s is valid: %s', (hosts, name, altName, right) => {
  const { ssl } = securedAddress(`postgres://u:p@${hosts}/gateway?sslmode=verify-full`)
  expect(ssl?.checkServerIdentity?.(name, certificateOf(altName)) === undefined).toBe(right)
})

test('a file that cannot be read is named', () => {
  expect(() => securedAddress(`${PLAIN}?sslmode=verify-full&sslrootcert=/nowhere/ca.crt`)).toThrow('/nowhere/ca.crt')
})
