import { expect, test } from 'vitest'
import { knownHosts } from './host-rule.js'

const SETTINGS = {
  apiHost: '127.0.0.1',
  controlHost: '10.0.0.5',
  apiBaseUrl: 'https://maps.example:8443',
  adminHosts: ['ops.example', 'Console.Example:9000', '2001:db8::7'],
}
const machine = () => ['192.168.1.20', 'fe80::1']

test.each([
  'localhost',
  'localhost:8910',
  'gateway.localhost',
  '127.0.0.1',
  '127.8.9.10:1',
  '[::1]:8910',
  '10.0.0.5:8911',
  'maps.example',
  'MAPS.example:8443',
  'maps.example.',
  'ops.example:80',
  'console.example',
  '[2001:db8::7]:80',
])('%s is a name of this service', (host) => {
  expect(knownHosts(SETTINGS, machine)(host)).toBe(true)
})

test.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  'evil.example:8910',
  '192.168.1.20',
  'localhost@evil.example',
  'evil.example/localhost',
  '0.0.0.0',
  '[::]',
  'a b',
])('%s is not', (host) => {
  expect(knownHosts(SETTINGS, machine)(host)).toBe(false)
})

test.each(['0.0.0.0', '::', '*'])(
  'a service that listens on %s has the addresses of its machine, and no name besides',
  (apiHost) => {
    const isKnown = knownHosts({ ...SETTINGS, apiHost, apiBaseUrl: 'http://127.0.0.1:8910' }, machine)
    expect(isKnown('192.168.1.20:8910')).toBe(true)
    expect(isKnown('[fe80::1]')).toBe(true)
    expect(isKnown('192.168.1.21')).toBe(false)
    expect(isKnown('evil.example')).toBe(false)
    expect(isKnown('0.0.0.0')).toBe(false)
  },
)
