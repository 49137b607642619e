import { expect, test } from 'vitest'
import { clientAddress, isForwardingHeader, parseRanges } from './client-address.js'

const ask = (peer: string, headers: Record<string, string> = {}, trusted: string[] = []) =>
  clientAddress(peer, headers, parseRanges(trusted))

test.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('%s is loopback', (peer) =>
  expect(ask(peer).loopback).toBe(true),
)
test.each(['10.0.0.1', '0.0.0.0', '::', 'fe80::1', '', 'garbage'])('%s is remote', (peer) =>
  expect(ask(peer).loopback).toBe(false),
)
const FORWARDING =
  `forwarded via x-via x-forwarded x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-forwarded-server
  x-forwarded-by x-forwarded-client-cert x-forwarded-anything x-forward-for x-original-forwarded-for x-original-host x-real-ip x-real-port
  x-client-ip client-ip x-cluster-client-ip true-client-ip fastly-client-ip fly-client-ip proxy-client-ip wl-proxy-client-ip x-azure-clientip
  x-azure-socketip x-azure-fdid x-fd-healthprobe x-sucuri-clientip x-appengine-user-ip x-proxyuser-ip x-originating-ip x-remote-ip x-remote-addr
  remote_addr x-nf-client-connection-ip cf-connecting-ip cf-ray cf-visitor cdn-loop cloudfront-viewer-address x-amz-cf-id x-amzn-trace-id
  x-envoy-external-address x-envoy-internal x-arr-log-id x-akamai-config-log-detail akamai-origin-hop fastly-ssl x-varnish
  surrogate-capability x-cloud-trace-context x-vercel-id client-cert front-end-https`.split(/\s+/)
test.each(FORWARDING)('loopback with %s and no trusted proxy counts as remote', (header) =>
  expect(ask('127.0.0.1', { [header]: '127.0.0.1' }).loopback).toBe(false),
)
test('a forwarding header without a value counts too', () =>
  expect(ask('127.0.0.1', { 'x-forwarded-for': '' }).loopback).toBe(false))
test('a forwarding header from an untrusted peer is ignored', () =>
  expect(ask('10.0.0.9', { 'x-forwarded-for': '127.0.0.1' })).toEqual({ address: '10.0.0.9', loopback: false }))
test('a trusted proxy determines the client', () =>
  expect(ask('127.0.0.1', { 'x-forwarded-for': '203.0.113.5' }, ['127.0.0.0/8'])).toEqual({
    address: '203.0.113.5',
    loopback: false,
  }))
test('text that a client wrote before the trusted hops does not count', () =>
  expect(ask('10.0.0.2', { 'x-forwarded-for': '127.0.0.1, 203.0.113.5, 10.0.0.3' }, ['10.0.0.0/8'])).toEqual({
    address: '203.0.113.5',
    loopback: false,
  }))
test('a hop that is not an address is not local', () =>
  expect(ask('10.0.0.2', { 'x-forwarded-for': 'unknown' }, ['10.0.0.0/8']).loopback).toBe(false))
test('a trusted proxy on this machine may forward for this machine', () =>
  expect(ask('127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, ['127.0.0.1']).loopback).toBe(true))
test.each([
  ['10.0.0.2', '127.0.0.1'],
  ['10.0.0.2', '::1'],
  ['10.0.0.2', '127.0.0.1, 10.0.0.3'],
  ['127.0.0.1', '127.0.0.1, 10.0.0.3'],
  ['127.0.0.1', '10.0.0.3, 127.0.0.1'],
])('a client behind another machine is never local, whatever that machine claims: peer %s for %s', (peer, hops) =>
  expect(ask(peer, { 'x-forwarded-for': hops }, ['10.0.0.0/8', '127.0.0.0/8', '::1']).loopback).toBe(false),
)
test('a trusted proxy with a header that names no client is not loopback', () =>
  expect(ask('127.0.0.1', { forwarded: 'for=1.2.3.4' }, ['127.0.0.1']).loopback).toBe(false))
test('an IPv4-mapped peer matches an IPv4 range', () =>
  expect(ask('::ffff:10.0.0.2', { 'x-forwarded-for': '198.51.100.1' }, ['10.0.0.0/8']).address).toBe('198.51.100.1'))
test.each([
  'host',
  'origin',
  'referer',
  'authorization',
  'x-access-token',
  'accept',
  'cookie',
  'sec-fetch-site',
  'sec-ch-ua',
  'x-request-id',
  'x-requested-with',
  'traceparent',
  'webhook-id',
  'x-edge-key',
  'x-edge-peer',
  'user-agent',
  'forwardedness',
])('%s says nothing about a proxy', (header) => expect(isForwardingHeader(header)).toBe(false))
test('the last of many hops is found, and an overlong hop is not local', () => {
  const hops = `${'127.0.0.1,'.repeat(1_000)} 203.0.113.5`
  expect(ask('10.0.0.2', { 'x-forwarded-for': hops }, ['10.0.0.0/8']).address).toBe('203.0.113.5')
  expect(ask('10.0.0.2', { 'x-forwarded-for': `127.0.0.1%${'0'.repeat(100)}` }, ['10.0.0.0/8']).loopback).toBe(false)
})
